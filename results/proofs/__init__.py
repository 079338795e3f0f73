"""Results of `ccmatic prove` about shipped controllers, one JSON file each, with a report, traces and certificates."""
