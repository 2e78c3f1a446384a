"""`hannun eval`: verbs of its own."""

from __future__ import annotations

from hannun.commands.lazy_group import LazyGroup

_VERBS = {
    "run": ("eval_run", "Every row to a model: its answer, or its scores of the ten candidates."),
    "judge": ("eval_judge", "Answers to a judge, by the published protocol."),
    "score": ("eval_score", "Predictions or judged answers to scores, as published and as read with care."),
    "errors": ("eval_errors", "Count what people found wrong in models' answers."),
}

command = LazyGroup(_VERBS, name="eval", help="Scores that can be trusted.")
