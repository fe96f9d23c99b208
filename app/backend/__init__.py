"""Between page and core: pure Python, in the server's process or in the browser's worker."""
