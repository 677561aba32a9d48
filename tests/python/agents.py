"""Real AG-UI agents on published frameworks with scripted models: the same request gives the same run.

Started by the end-to-end tests; prints the address it listens on and serves until its stdin closes.
"""

import json
import os
import socket
import threading
import uuid
from typing import Annotated, Any

import uvicorn
from ag_ui.core import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    CustomEvent,
    EventType,
    StateDeltaEvent,
    StateSnapshotEvent,
)
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI, Request
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt
from pydantic import BaseModel
from pydantic_ai import Agent, DeferredToolRequests, RunContext, ToolReturn
from pydantic_ai.models.function import DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from typing_extensions import TypedDict

app = FastAPI()


# pydantic-ai ---------------------------------------------------------------------------------------------------------


class Plan(BaseModel):
    steps: list[str] = []
    done: int = 0


def results(messages: list[Any]) -> list[Any]:
    parts = [part for message in messages for part in getattr(message, "parts", [])]
    return [part for part in parts if part.part_kind == "tool-return"]


async def planning_model(messages, _info):
    found = results(messages)
    if not found:
        yield {0: DeltaThinkingPart(content="The user wants a plan. ")}
        yield {0: DeltaThinkingPart(content="Two steps are enough.", signature="sig-1")}
        yield {1: DeltaToolCall(name="make_plan", json_args='{"steps": ["boil wa', tool_call_id="call_plan")}
        yield {1: DeltaToolCall(json_args='ter", "steep tea"]}')}
        yield {2: DeltaToolCall(name="weather", json_args='{"city":"Zürich"}', tool_call_id="call_weather")}
    elif len(found) == 2:
        yield {0: DeltaToolCall(name="tick", json_args='{"index":0}', tool_call_id="call_tick")}
    else:
        for word in "Plan ready: boil water, steep tea. 茶 🍵 done.".split(" "):
            yield word + " "


planner = Agent(FunctionModel(stream_function=planning_model), deps_type=StateDeps[Plan])


@planner.tool
async def make_plan(ctx: RunContext[StateDeps[Plan]], steps: list[str]) -> ToolReturn:
    ctx.deps.state = Plan(steps=steps)
    items = [{"text": step, "done": False} for step in steps]
    return ToolReturn(
        return_value="ok",
        metadata=[
            StateSnapshotEvent(type=EventType.STATE_SNAPSHOT, snapshot=ctx.deps.state.model_dump()),
            ActivitySnapshotEvent(
                type=EventType.ACTIVITY_SNAPSHOT,
                message_id="activity-plan",
                activity_type="PLAN",
                content={"items": items},
            ),
        ],
    )


@planner.tool_plain
async def weather(city: str) -> dict[str, Any]:
    return {"city": city, "tempC": 11.5, "sky": "rain"}


@planner.tool
async def tick(ctx: RunContext[StateDeps[Plan]], index: int) -> ToolReturn:
    ctx.deps.state.done += 1
    return ToolReturn(
        return_value="ticked",
        metadata=[
            StateDeltaEvent(type=EventType.STATE_DELTA, delta=[{"op": "replace", "path": "/done", "value": 1}]),
            ActivityDeltaEvent(
                type=EventType.ACTIVITY_DELTA,
                message_id="activity-plan",
                activity_type="PLAN",
                patch=[{"op": "replace", "path": f"/items/{index}/done", "value": True}],
            ),
            CustomEvent(type=EventType.CUSTOM, name="progress", value={"percent": 50}),
        ],
    )


async def deleting_model(messages, _info):
    found = results(messages)
    if not found:
        yield {0: DeltaToolCall(name="delete_file", json_args='{"path":"/srv/a.txt"}', tool_call_id="call_delete_a")}
        yield {1: DeltaToolCall(name="delete_file", json_args='{"path":"/srv/b.txt"}', tool_call_id="call_delete_b")}
    else:
        yield "Outcome: " + " | ".join(str(part.content) for part in found)


deleter = Agent(FunctionModel(stream_function=deleting_model), output_type=[str, DeferredToolRequests])


@deleter.tool_plain(requires_approval=True)
async def delete_file(path: str) -> str:
    return f"deleted {path}"


async def failing_model(_messages, _info):
    yield "Partial answer before "
    raise RuntimeError("the model failed")


failing = Agent(FunctionModel(stream_function=failing_model))


@app.post("/pydantic/plan")
async def pydantic_plan(request: Request):
    return await AGUIAdapter.dispatch_request(request, agent=planner, deps=StateDeps(Plan()))


@app.post("/pydantic/approval")
async def pydantic_approval(request: Request):
    return await AGUIAdapter.dispatch_request(request, agent=deleter)


@app.post("/pydantic/failure")
async def pydantic_failure(request: Request):
    return await AGUIAdapter.dispatch_request(request, agent=failing)


# langgraph -----------------------------------------------------------------------------------------------------------


class ScriptedModel(BaseChatModel):
    script: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools, **_options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **_options):
        whole = None
        for chunk in self.script(messages):
            whole = chunk if whole is None else whole + chunk
        message = AIMessage(content=whole.content, tool_calls=whole.tool_calls, id=whole.id)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(self, messages, stop=None, run_manager=None, **_options):
        for chunk in self.script(messages):
            if run_manager:
                token = chunk.content if isinstance(chunk.content, str) else ""
                await run_manager.on_llm_new_token(token, chunk=ChatGenerationChunk(message=chunk))
            yield ChatGenerationChunk(message=chunk)


def spoken(text: str):
    id = "lc_" + uuid.uuid4().hex[:12]
    for word in text.split(" "):
        yield AIMessageChunk(content=word + " ", id=id)


def weather_script(messages):
    if any(isinstance(message, ToolMessage) for message in messages):
        yield from spoken("It is cold in Oslo.")
        return
    id = "lc_" + uuid.uuid4().hex[:12]
    yield AIMessageChunk(content=[{"type": "reasoning", "reasoning": "The weather ", "index": 0}], id=id)
    yield AIMessageChunk(content=[{"type": "reasoning", "reasoning": "tool knows.", "index": 0}], id=id)
    call = {"name": "get_weather", "args": "", "id": "call_weather", "index": 1}
    yield AIMessageChunk(content="", id=id, tool_call_chunks=[call])
    for piece in ['{"ci', 'ty":"Os', 'lo"}']:
        yield AIMessageChunk(
            content="", id=id, tool_call_chunks=[{"name": None, "args": piece, "id": None, "index": 1}]
        )


class Conversation(TypedDict):
    messages: Annotated[list, add_messages]
    tools: list
    progress: int


@tool
async def get_weather(city: str) -> str:
    """The weather of a city."""
    return json.dumps({"city": city, "tempC": -3})


def weather_graph():
    model = ScriptedModel(script=weather_script)

    async def think(state, config):
        answer = await model.ainvoke(state["messages"], config)
        return {"messages": [answer], "progress": state.get("progress", 0) + 1}

    def next_node(state):
        return "tools" if getattr(state["messages"][-1], "tool_calls", None) else END

    graph = StateGraph(Conversation)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([get_weather]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", next_node, ["tools", END])
    graph.add_edge("tools", "think")
    return graph.compile(checkpointer=MemorySaver())


def booking_graph():
    model = ScriptedModel(script=lambda _messages: spoken("Booking done."))
    schema = {"type": "object", "properties": {"pick": {"type": "string"}}, "required": ["pick"]}

    async def ask(state, config):
        answer = interrupt({"reason": "flight:choose", "message": "Pick a flight", "responseSchema": schema})
        return {"messages": [HumanMessage(content="picked " + json.dumps(answer), id="picked")]}

    async def finish(state, config):
        return {"messages": [await model.ainvoke(state["messages"], config)]}

    graph = StateGraph(Conversation)
    graph.add_node("ask", ask)
    graph.add_node("finish", finish)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "finish")
    graph.add_edge("finish", END)
    return graph.compile(checkpointer=MemorySaver())


def two_questions_graph():
    def asking(question: str):
        async def ask(state, config):
            answer = interrupt(question)
            return {"messages": [HumanMessage(content=f"{question} {json.dumps(answer)}", id=question)]}

        return ask

    graph = StateGraph(Conversation)
    for question in ["window?", "meal?"]:
        graph.add_node(question, asking(question))
        graph.add_edge(START, question)
        graph.add_edge(question, END)
    return graph.compile(checkpointer=MemorySaver())


def serve_graph(path: str, graph, *, emit_raw_events=False, **options) -> None:
    agent = LangGraphAgent(name=path.strip("/"), graph=graph, emit_raw_events=emit_raw_events, **options)
    add_langgraph_fastapi_endpoint(app, agent, path)


serve_graph("/langgraph/weather", weather_graph())
serve_graph("/langgraph/booking", booking_graph(), emit_interrupt_outcome=True)
# As published agents are by default: they ask by CUSTOM events alone.
serve_graph("/langgraph/booking-by-event", booking_graph())
serve_graph("/langgraph/two-questions-by-event", two_questions_graph(), emit_raw_events=True)


def end_with_parent() -> None:
    """Ends the program when whoever started it is gone."""
    while os.read(0, 1):
        pass
    os._exit(0)


if __name__ == "__main__":
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    # Who reads the line below may connect before the server is up.
    listener.listen()
    threading.Thread(target=end_with_parent, daemon=True).start()
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
