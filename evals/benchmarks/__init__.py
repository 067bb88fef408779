"""Benchmarks: lists of tasks with their gold, their image index and their registry."""

from fieldmark.evals.benchmarks.base import Benchmark
from fieldmark.evals.benchmarks.loading import bundled_names, load_benchmark

__all__ = ["Benchmark", "bundled_names", "load_benchmark"]
