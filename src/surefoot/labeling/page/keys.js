// Keys: which class has which, and what a key press means.

const TAKEN = "subgcn"; // skip, undo, back, guess, cannot tell, next
const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"].filter((letter) => !TAKEN.includes(letter));

export const CLASS_KEYS = [..."123456789", ...LETTERS];

// The key that was meant, or null: a held key, a shortcut of the browser and typing into a field mean nothing here.
export function meantKey(event) {
  if (event.repeat || event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return null;
  if (event.target.closest?.("input, textarea, select, [contenteditable], dialog")) return null;
  const key = event.key.toLowerCase();
  if (/^[a-z0-9?/]$/.test(key)) return key;
  return event.shiftKey || key.length > 1 ? null : placeKey(event.code);
}

// Keyboards without Latin letters, or with digits only under the shift key: the place of the key decides.
function placeKey(code) {
  return /^(?:Key|Digit)([A-Z0-9])$/.exec(code)?.[1].toLowerCase() ?? null;
}
