"""Builds the page: Bokeh figures and one HTML template, for the static site and for the server alike."""
