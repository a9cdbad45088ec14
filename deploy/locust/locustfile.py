"""Locust as the engine of Tailback: give this file to a stock `locust`, on the master and on all workers."""

from locust import events

from tailback_locust import Client, register

__all__ = ["Client"]

register(events)
