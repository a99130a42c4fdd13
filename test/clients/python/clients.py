"""What users of the Python clients do first, against the gateway at GATEWAY_URL with the provider double of run.ts behind it."""

import os
import struct
import sys
from importlib.metadata import version

import openai
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike

URL, KEY = os.environ["GATEWAY_URL"], os.environ["GATEWAY_KEY"]
TEXT = "Grüße, Welt 🙂"
MESSAGES = [{"role": "user", "content": "Hello?"}]
CALLS = [("call_a", "weather", '{"city":"Köln"}'), ("call_b", "clock", "{}")]
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}} for name in ("weather", "clock")]
VECTOR = [struct.unpack("f", struct.pack("f", value))[0] for value in (0.1, -0.0, 1e-45, -3.402823466e38, 0.33333334, 1, 2, 3)]

client = openai.OpenAI(base_url=URL, api_key=KEY)


def refusal(call):
    """The error that a call ends with."""
    try:
        call()
    except openai.APIError as error:
        return error
    raise AssertionError("nothing was refused")


def openai_chat():
    answer = client.chat.completions.create(model="chat", messages=MESSAGES, max_tokens=9)
    assert answer.choices[0].message.content == TEXT and answer.usage.total_tokens == 29 and answer._request_id


def openai_stream():
    chunks = list(client.chat.completions.create(model="chat", messages=MESSAGES, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == TEXT
    *chunks, last = client.chat.completions.create(model="chat", messages=MESSAGES, stream=True, stream_options={"include_usage": True})
    assert last.choices == [] and last.usage.total_tokens == 29 and all(chunk.usage is None for chunk in chunks)


def openai_stream_helper():
    with client.chat.completions.stream(model="chat", messages=MESSAGES, tools=TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    assert [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls] == CALLS


def openai_embeddings():
    data = client.embeddings.create(model="vectors", input=["a", "b"]).data
    assert [entry.embedding for entry in data] == [VECTOR, VECTOR]


def openai_models():
    assert "chat" in [model.id for model in client.models.list()] and client.models.retrieve("chat").owned_by == "acme"


def openai_errors():
    unknown = refusal(lambda: client.chat.completions.create(model="none", messages=MESSAGES))
    assert isinstance(unknown, openai.NotFoundError) and unknown.code == "model_not_found" and unknown.request_id
    wrong = refusal(lambda: openai.OpenAI(base_url=URL, api_key="ap_wrong").models.list())
    assert isinstance(wrong, openai.AuthenticationError) and wrong.code == "invalid_api_key"


def langchain_chat():
    model = ChatOpenAI(base_url=URL, api_key=KEY, model="chat", max_tokens=9)
    answer = model.invoke("Hello?")
    assert answer.content == TEXT and answer.usage_metadata["total_tokens"] == 29
    assert "".join(chunk.content for chunk in model.stream("Hello?")) == TEXT


def langchain_tools():
    @tool
    def weather(city: str) -> str:
        """The weather."""
        return city

    chunks = list(ChatOpenAI(base_url=URL, api_key=KEY, model="chat").bind_tools([weather]).stream("Hello?"))
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    assert [(call["id"], call["args"]) for call in whole.tool_calls] == [("call_a", {"city": "Köln"}), ("call_b", {})]


def langchain_embeddings():
    embeddings = OpenAIEmbeddings(base_url=URL, api_key=KEY, model="vectors", check_embedding_ctx_length=False)
    assert embeddings.embed_documents(["a", "b"]) == [VECTOR, VECTOR]
    # What it sends without that; it would fetch the vocabulary first.
    ids = refusal(lambda: client.embeddings.create(model="vectors", input=[[9906]]))
    assert isinstance(ids, openai.BadRequestError) and "check_embedding_ctx_length=False" in ids.message


def llama_index_chat():
    model = OpenAILike(api_base=URL, api_key=KEY, model="chat", is_chat_model=True, is_function_calling_model=True)
    messages = [ChatMessage(role="user", content="Hello?")]
    assert model.chat(messages).message.content == TEXT
    assert list(model.stream_chat(messages))[-1].message.content == TEXT


def llama_index_embeddings():
    embeddings = OpenAILikeEmbedding(api_base=URL, api_key=KEY, model_name="vectors")
    assert embeddings.get_text_embedding_batch(["a", "b"]) == [VECTOR, VECTOR]


def main():
    for name in ("openai", "langchain-openai", "llama-index-llms-openai-like", "llama-index-embeddings-openai-like"):
        print(name, version(name))
    failed = 0
    for check in (openai_chat, openai_stream, openai_stream_helper, openai_embeddings, openai_models, openai_errors, langchain_chat, langchain_tools, langchain_embeddings, llama_index_chat, llama_index_embeddings):
        try:
            check()
            print("passed", check.__name__)
        except Exception as error:
            failed += 1
            print("FAILED", check.__name__, type(error).__name__, error)
    return failed


sys.exit(main())
