"""Builds the static site: the interpreter, its library, the core and the page, as files any host can serve.

pins             what is fetched, and the sha256 that each file must have
interpreter_files  where those files come from: cache, public CDN, registry packages
numpy_wheel      numpy for the attention lab, which no visitor waits for
interpreter      runs a Python script in that very interpreter, under node, at build time
archive          zip files with the same bytes for the same content
bokeh_subset     BokehJS with the models of the page's figures alone
bundle           scripts with their modules in one file
memory_image     what differs in the interpreter's memory once it has booted and imported the core
python_parts     what the browser loads of Python: that image, the rest of the core, the rest of the library
assets           content-hashed names, and the references between files rewritten to them
policy           the content-security policy, and the check that nothing comes from outside
notice           the licences of everything shipped
sizes            how many bytes a visitor waits for
static_site      puts all of it together
server           serves the result on loopback
"""
