exec "$PYTHON/python" tests/outside/warehouse/check.py
