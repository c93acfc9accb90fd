// Bundles the front end into dist/: each file named by a hash of its content, with compressed twins and a manifest that
// the server reads. With --tests it bundles the unit tests into build/tests/ instead.

import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const common = { absWorkingDir: here, bundle: true, format: "esm", target: "es2022", logLevel: "warning" };

async function bundle() {
  const { outputFiles } = await build({
    ...common,
    entryPoints: ["src/app.ts", "src/early.ts", "src/lab.ts", "styles/app.css", "styles/lab.css"],
    outdir: "dist",
    entryNames: "[name]",
    minify: true,
    write: false,
    legalComments: "none",
  });
  const icon = { path: "icon.svg", contents: await readFile(join(here, "icon.svg")) };
  return [...outputFiles, icon].map(({ path, contents }) => ({ name: basename(path), contents }));
}

async function publish(files) {
  const dist = join(here, "dist");
  await rm(dist, { recursive: true, force: true });
  await mkdir(dist);
  const manifest = {};
  let total = 0;
  for (const { name, contents } of files) {
    const hash = createHash("sha256").update(contents).digest("hex").slice(0, 16);
    const hashed = `${basename(name, extname(name))}.${hash}${extname(name)}`;
    const brotli = brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
    await writeFile(join(dist, hashed), contents);
    await writeFile(join(dist, `${hashed}.br`), brotli);
    await writeFile(join(dist, `${hashed}.gz`), gzipSync(contents, { level: 9 }));
    manifest[name] = hashed;
    total += brotli.length;
  }
  await writeFile(join(dist, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return total;
}

async function bundleTests() {
  const tests = (await readdir(join(here, "tests"))).filter((name) => name.endsWith(".test.mjs"));
  await rm(join(here, "build"), { recursive: true, force: true });
  await build({
    ...common,
    entryPoints: tests.map((name) => `tests/${name}`),
    outdir: "build/tests",
    outExtension: { ".js": ".mjs" },
    platform: "node",
  });
}

if (process.argv.includes("--tests")) {
  await bundleTests();
} else {
  const total = await publish(await bundle());
  console.log(`front end bundled: ${(total / 1024).toFixed(0)} KB compressed`);
}
