// What the page carries for its scripts (app/frontend/page.py, page_data): texts, colours, default responses.

function read(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

export const pageData = read("page-data");
export const bokehDocuments = read("page-documents"); // by when their figures are opened: first, later
