"""Where requests come from: synthetic loads and trace files."""
