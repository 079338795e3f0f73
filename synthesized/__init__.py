"""Controllers that ccmatic or the paper's tool found."""
