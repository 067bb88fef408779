"""my_agent: think, call tools, think again, until the model answers without calling one."""

from fieldmark.agents.own import Asked, Reply, Tools

INSTRUCTIONS = """You identify what a picture shows, as exactly as the evidence supports. Use the tools
to look closer and to look things up. When you know, reply with this JSON object alone:
{"answer": "the name", "confidence": a number from 0 to 1, "rationale": "what it rests on"}
"""
LAST = "Say now what you hold for the likeliest, as the JSON object."


def solve(prompt: Asked, tools: Tools) -> Reply:
    messages = [{"role": "system", "content": INSTRUCTIONS + prompt.skills}, prompt.message()]
    for _ in range(prompt.limits.turns or 100):
        reply = prompt.model.chat(messages, tools)
        if not reply.tool_calls:
            return reply  # its text is the answer
        messages += [reply.message, *tools.carry_out(reply.tool_calls)]
    return prompt.model.chat([*messages, {"role": "user", "content": LAST}])
