"""Models on disk: written by skops, and read so that a forged or damaged file is answered with one sentence."""

from surefoot._model_files._loading import load_model, model_content, save_model
from surefoot._model_files._refusal import ModelFileError
from surefoot._model_files._trusted import TRUSTED

__all__ = ["TRUSTED", "ModelFileError", "load_model", "model_content", "save_model"]
