// The rows that match, as a file that a spreadsheet can open without running anything.

// A text that a spreadsheet would take for a formula gets an apostrophe in front.
function csvCell(value) {
  let text = shown(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text) && !isFinite(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function csvText(rows) {
  const lines = rows.map((item) => [...report.rows.export.map((name) => sortValue(item, name)), ...item.values]);
  return [[...report.rows.export, ...report.rows.export_values], ...lines].map((line) => line.map(csvCell).join(",")).join("\r\n");
}

function download() {
  // The mark at the start tells spreadsheets that the file is UTF-8.
  const file = new Blob(["\ufeff", csvText(matching), "\r\n"], { type: "text/csv" });
  const link = el("a", { href: URL.createObjectURL(file), download: "rows.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
