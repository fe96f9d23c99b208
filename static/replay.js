// The tab "replay". tabs.js calls mount(place, context) once, when the tab is first opened.

export async function mount() {}
