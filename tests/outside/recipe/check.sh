exec python3 tests/outside/recipe/check.py
