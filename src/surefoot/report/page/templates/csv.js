// The rows that match, as a file that a spreadsheet can open without running anything.

const FIELDS = {
  row: (item) => item.row,
  truth: (item) => item.truth,
  prediction: (item) => item.prediction,
  wrong: (item) => item.wrong,
  estimated_error: (item) => item.estimated_error,
  own_error: (item) => item.own_error,
  low: (item) => item.low,
  high: (item) => item.high,
  novel: (item) => item.novel,
  trust: (item) => item.trust,
};

// A text that a spreadsheet would take for a formula gets an apostrophe in front.
function csvCell(value) {
  let text = shown(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !isFinite(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(rows) {
  const values = columns.filter(({ key }) => key.startsWith("value")).map(({ label }) => label);
  const lines = rows.map((item) => [...Object.values(FIELDS).map((field) => field(item)), ...item.values]);
  return [[...Object.keys(FIELDS), ...values], ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n");
}

function download() {
  // The mark at the start tells spreadsheets that the file is UTF-8.
  const file = new Blob(["\ufeff", csvText(matching), "\r\n"], { type: "text/csv" });
  const link = el("a", { href: URL.createObjectURL(file), download: "rows.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
