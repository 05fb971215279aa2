"""The labelling page: a local web server, one HTML page, one ES module, one stylesheet."""
