"""The layers that a call passes on its way to a model, one purpose each; `stack.py` has their order."""
