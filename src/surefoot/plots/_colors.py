"""Colours of all displays."""

# Okabe and Ito's colours, which differ for every kind of colour vision.
INK, GREY = "#1a1a1a", "#b5b5b5"
BLUE, SKY, ORANGE, VERMILION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PINK = "#009E73", "#CC79A7"
