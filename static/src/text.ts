// Text on its way to a shell: typographic spaces become plain ones, and control characters cannot pretend to be keys.

const TYPOGRAPHIC_SPACES = /[\u00a0\u202f\u2007\u2009]/g;
// Everything below space but tab and line ends, DEL, and the C1 range, which some terminals obey too.
// biome-ignore lint: control characters are what this is about
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** A command as it must be typed. */
export function plain(text: string): string {
  return text.replace(TYPOGRAPHIC_SPACES, " ");
}

/** Pasted text without anything that could leave the paste and act: ESC [ 2 0 1 ~ would. */
export function harmless(text: string): string {
  return text.replace(CONTROLS, "");
}

/** Pasted text as keys: line ends as Enter, marked as a paste when the program asks for that. */
export function pasted(text: string, bracketed: boolean): string {
  const keys = harmless(text).replace(/\r?\n/g, "\r");
  return bracketed ? `\u001b[200~${keys}\u001b[201~` : keys;
}

/**
 * What the terminal itself answers to queries in its output (where is the cursor, what are you, which colour). When old
 * output is shown again these must not reach the shell, which would take them for typing.
 */
export function isReply(data: string): boolean {
  return /^(\u001b(\[[?>=]?[\d;]*\$?[cnRytu]|[\]P_^].*?(\u0007|\u001b\\)))+$/s.test(data);
}
