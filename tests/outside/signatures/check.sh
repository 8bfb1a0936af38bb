exec "$PYTHON/python" tests/outside/signatures/check.py
