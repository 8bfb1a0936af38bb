exec "$PYTHON/python" tests/outside/scim/check.py
