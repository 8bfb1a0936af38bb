exec python3 xtask/recipe/check.py
