"""Why a completed episode was wrong: the failure taxonomy."""
