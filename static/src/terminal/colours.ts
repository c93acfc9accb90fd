// The terminal's colours, taken from the page's own so that both themes hold.

import type { ITheme } from "@xterm/xterm";

const LIGHT = ["#1b1f24", "#a32020", "#1a6b2f", "#8a5300", "#0b5fa5", "#6b3fa0", "#0e6672", "#5a6570"];
const DARK = ["#3a424b", "#f28b82", "#6fcf8a", "#f0b35a", "#7cb8f2", "#c3a2f0", "#74d0dc", "#d3d8de"];
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

export function isDark(): boolean {
  const theme = document.documentElement.dataset["theme"];
  if (theme === "light" || theme === "dark") return theme === "dark";
  return window.matchMedia("(prefers-color-scheme: dark)").matches;
}

export function colours(): ITheme {
  const dark = isDark();
  const palette = dark ? DARK : LIGHT;
  const named = NAMES.flatMap((name, at) => {
    const colour = palette[at] ?? "";
    return [
      [name, colour],
      [`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`, colour],
    ];
  });
  const ground = dark ? "#101316" : "#ffffff";
  const ink = dark ? "#e6e8eb" : "#1b1f24";
  return {
    ...Object.fromEntries(named),
    background: ground,
    foreground: ink,
    cursor: dark ? "#7cb8f2" : "#0b5fa5",
    cursorAccent: ground,
    selectionBackground: dark ? "#2f4a63" : "#cfe3f5",
    brightBlack: dark ? "#9aa5b0" : "#5a6570",
  };
}
