// Elements and words. Texts become text nodes, never markup: whatever a table contains is harmless.

export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

export function find(name) {
  return document.querySelector(`[data-test="${name}"]`);
}

// Text in an element that is hidden when there is none.
export function tell(name, text) {
  const node = find(name);
  if (node.textContent !== (text ?? "")) node.textContent = text ?? "";
  node.hidden = !text;
}

export function counted(size, noun, nouns = `${noun}s`) {
  return `${size.toLocaleString("en-US")} ${size === 1 ? noun : nouns}`;
}

// A whole number stays as it is: it may be a code. Others lose the digits that arithmetic left behind.
export function numberText(value) {
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(8)));
}

export function percent(share) {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return "less than 0.1\u00a0%";
  return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)}\u00a0%`;
}

// The first characters of a text; a character of two units is not cut in half.
export function start(text, length) {
  const half = /[\ud800-\udbff]$/.test(text.slice(0, length));
  return text.slice(0, half ? length - 1 : length);
}
