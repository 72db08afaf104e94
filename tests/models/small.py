"""Small models of every family, built and saved by transformers."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

VOCAB, LENGTH = 40, 20
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 24,
    "vocab_size": VOCAB,
    "max_position_embeddings": LENGTH,
}
SIDES = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "vocab_size": VOCAB,
}
IMAGE = {"image_size": 12, "patch_size": 4}
VISION = {k: v for k, v in SIZES.items() if k not in ("vocab_size", "max_position_embeddings")} | IMAGE
PADDED = SIZES | {"max_position_embeddings": LENGTH + 2, "pad_token_id": 1}

GROUPED = SIZES | {"num_key_value_heads": 2, "head_dim": 8, "pad_token_id": 0}
SPECIAL = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
EAGER = {"attn_implementation": "eager"}  # which Falcon takes at no other time
NO_TIES = {"decoder_start_token_id": 1, "eos_token_id": 2, "forced_eos_token_id": 2}

BUCKETS = 6
DEBERTA = SIZES | {
    "relative_attention": True,
    "position_buckets": BUCKETS,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
}
APART = DEBERTA | {"share_att_key": False}
XLNET = {"d_model": 16, "n_layer": 2, "n_head": 4, "d_inner": 24, "vocab_size": VOCAB, "use_mems_eval": False}
SWIN = {"image_size": 16, "patch_size": 2, "embed_dim": 8, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}

MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "bert": ("BertConfig", "BertModel", SIZES),
    "bert-masked": ("BertConfig", "BertForMaskedLM", SIZES),
    "distilbert": (
        "DistilBertConfig",
        "DistilBertForMaskedLM",
        {
            "dim": 16,
            "n_layers": 2,
            "n_heads": 4,
            "hidden_dim": 24,
            "vocab_size": VOCAB,
            "max_position_embeddings": LENGTH,
        },
    ),
    "electra": ("ElectraConfig", "ElectraForMaskedLM", SIZES | {"embedding_size": 8}),
    "roberta": ("RobertaConfig", "RobertaForMaskedLM", PADDED),
    "xlm-roberta": ("XLMRobertaConfig", "XLMRobertaModel", PADDED),
    "mpnet": ("MPNetConfig", "MPNetForMaskedLM", PADDED),
    "esm": ("EsmConfig", "EsmForMaskedLM", PADDED | {"mask_token_id": 4, "position_embedding_type": "absolute"}),
    "esm-rotary": ("EsmConfig", "EsmForMaskedLM", PADDED | {"mask_token_id": 4, "position_embedding_type": "rotary"}),
    "albert": ("AlbertConfig", "AlbertForMaskedLM", SIZES | {"embedding_size": 8}),
    "gpt2": (
        "GPT2Config",
        "GPT2LMHeadModel",
        {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": LENGTH, "vocab_size": VOCAB},
    ),
    "gpt_neox": ("GPTNeoXConfig", "GPTNeoXForCausalLM", SIZES | {"hidden_size": 64, "vocab_size": VOCAB}),
    "gptj": (
        "GPTJConfig",
        "GPTJForCausalLM",
        {"n_embd": 16, "n_layer": 2, "n_head": 2, "rotary_dim": 4, "n_positions": LENGTH, "vocab_size": VOCAB},
    ),
    "opt": (
        "OPTConfig",
        "OPTForCausalLM",
        {
            "hidden_size": 16,
            "ffn_dim": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "vocab_size": VOCAB,
            "max_position_embeddings": LENGTH,
            "word_embed_proj_dim": 16,
        },
    ),
    "bart": ("BartConfig", "BartForConditionalGeneration", SIDES | {"max_position_embeddings": LENGTH}),
    "blenderbot": (
        "BlenderbotConfig",
        "BlenderbotForConditionalGeneration",
        SIDES | {"max_position_embeddings": LENGTH},
    ),
    "t5": (
        "T5Config",
        "T5ForConditionalGeneration",
        {"d_model": 16, "d_kv": 3, "num_heads": 4, "d_ff": 24, "num_layers": 2, "vocab_size": VOCAB},
    ),
    "bloom": ("BloomConfig", "BloomForCausalLM", {"hidden_size": 18, "n_layer": 2, "n_head": 3, "vocab_size": VOCAB}),
    "mpt": (
        "MptConfig",
        "MptForCausalLM",
        {"d_model": 16, "n_layers": 2, "n_heads": 4, "vocab_size": VOCAB, "max_seq_len": LENGTH},
    ),
    "llama": (
        "LlamaConfig",
        "LlamaForCausalLM",
        SIZES
        | {
            "num_key_value_heads": 2,
            "rope_parameters": {
                "rope_type": "llama3",
                "rope_theta": 100.0,
                "factor": 4.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8,
            },
        },
    ),
    "mistral": ("MistralConfig", "MistralForCausalLM", SIZES | {"num_key_value_heads": 2, "head_dim": 8}),
    "qwen2": (
        "Qwen2Config",
        "Qwen2ForCausalLM",
        SIZES | {"hidden_size": 56, "num_attention_heads": 14, "num_key_value_heads": 2},
    ),
    "qwen3": ("Qwen3Config", "Qwen3ForCausalLM", GROUPED),
    "qwen3_moe": (
        "Qwen3MoeConfig",
        "Qwen3MoeForCausalLM",
        GROUPED | {"num_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8},
    ),
    "gemma": ("GemmaConfig", "GemmaForCausalLM", GROUPED),
    "gemma2": (
        "Gemma2Config",
        "Gemma2ForCausalLM",
        GROUPED | {"attn_logit_softcapping": None, "query_pre_attn_scalar": 8},
    ),
    "gemma3_text": (
        "Gemma3TextConfig",
        "Gemma3ForCausalLM",
        GROUPED | {"layer_types": ["sliding_attention", "full_attention"], "query_pre_attn_scalar": 8},
    ),
    "phi3": ("Phi3Config", "Phi3ForCausalLM", SIZES | {"num_key_value_heads": 2, "pad_token_id": 0}),
    "gpt_oss": ("GptOssConfig", "GptOssForCausalLM", GROUPED | {"num_local_experts": 2, "num_experts_per_tok": 1}),
    "starcoder2": ("Starcoder2Config", "Starcoder2ForCausalLM", SIZES | {"num_key_value_heads": 2}),
    "smollm3": (
        "SmolLM3Config",
        "SmolLM3ForCausalLM",
        SIZES | {"num_key_value_heads": 2, "no_rope_layers": [1, 0], "pad_token_id": 0},
    ),
    "cohere": ("CohereConfig", "CohereForCausalLM", SIZES),
    "modernbert": (
        "ModernBertConfig",
        "ModernBertForMaskedLM",
        SIZES | {"layer_types": ["full_attention", "sliding_attention"], **SPECIAL},
    ),
    "nomic_bert": ("NomicBertConfig", "NomicBertForMaskedLM", SIZES),
    "falcon": ("FalconConfig", "FalconForCausalLM", SIZES | {"multi_query": True} | EAGER),
    "falcon-groups": (
        "FalconConfig",
        "FalconForCausalLM",
        SIZES | {"new_decoder_architecture": True, "num_kv_heads": 2} | EAGER,
    ),
    "falcon-alibi": ("FalconConfig", "FalconForCausalLM", SIZES | {"multi_query": True, "alibi": True} | EAGER),
    "falcon-heads": ("FalconConfig", "FalconForCausalLM", SIZES | {"multi_query": False} | EAGER),
    "gpt_neo": (
        "GPTNeoConfig",
        "GPTNeoForCausalLM",
        {
            "hidden_size": 16,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global"], 2]],
            "vocab_size": VOCAB,
            "max_position_embeddings": LENGTH,
        },
    ),
    "marian": (
        "MarianConfig",
        "MarianMTModel",
        SIDES | {"max_position_embeddings": LENGTH, "pad_token_id": 1, **NO_TIES},
    ),
    "m2m_100": ("M2M100Config", "M2M100ForConditionalGeneration", SIDES | {"max_position_embeddings": LENGTH}),
    "umt5": (
        "UMT5Config",
        "UMT5ForConditionalGeneration",
        {"d_model": 16, "d_kv": 3, "num_heads": 4, "d_ff": 24, "num_layers": 2, "vocab_size": VOCAB},
    ),
    "deberta-v2": ("DebertaV2Config", "DebertaV2ForMaskedLM", DEBERTA),
    "deberta-v2-apart": (
        "DebertaV2Config",
        "DebertaV2Model",
        APART | {"norm_rel_ebd": "none"},
    ),
    "deberta-v2-half": (
        "DebertaV2Config",
        "DebertaV2Model",
        DEBERTA
        | {"share_att_key": False, "pos_att_type": ["c2p"], "position_buckets": -1, "max_relative_positions": 6},
    ),
    "deberta-v2-table": ("DebertaV2Config", "DebertaV2Model", DEBERTA | {"position_biased_input": True}),
    "xlnet": ("XLNetConfig", "XLNetLMHeadModel", XLNET),
    "xlnet-past": ("XLNetConfig", "XLNetModel", XLNET | {"attn_type": "uni", "clamp_len": 4}),
    "swin": ("SwinConfig", "SwinModel", SWIN),
    "swinv2": ("Swinv2Config", "Swinv2Model", SWIN | {"pretrained_window_sizes": [0, 3]}),
    "dinov2": ("Dinov2Config", "Dinov2Model", VISION),
    "siglip": ("SiglipConfig", "SiglipModel", {"text_config": SIZES, "vision_config": VISION}),
    "vit": ("ViTConfig", "ViTModel", VISION),
    "deit": ("DeiTConfig", "DeiTModel", VISION),
    "clip": ("CLIPConfig", "CLIPModel", {"text_config": SIZES, "vision_config": VISION, "projection_dim": 8}),
    "whisper": (
        "WhisperConfig",
        "WhisperForConditionalGeneration",
        SIDES
        | {
            "max_source_positions": LENGTH,
            "max_target_positions": 12,
            "num_mel_bins": 4,
            "pad_token_id": 0,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
        },
    ),
}
_QUERIES = re.compile(r"(\.|^)(query|query_proj|q_proj|q_lin|q|c_attn|query_key_value|Wqkv|qkv_proj|rel_attn)$")
_CROSS = re.compile(r"encoder_attn|EncDecAttention|crossattention")


def build(name: str, **changes: Any) -> Any:
    """A model with weights large enough that attention is far from uniform."""
    import torch
    import transformers

    config, model, values = MODELS[name]
    torch.manual_seed(0)
    made = getattr(transformers, model)(getattr(transformers, config)(**values | changes)).eval()
    made.set_attn_implementation("eager")
    with torch.no_grad():
        for parameter in made.parameters():
            if parameter.ndim == 1:  # biases and norms, which start at 0 and 1
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
            elif parameter.ndim and float(parameter.std()) < 0.3:
                parameter.mul_(12)
        for path, parameter in made.named_parameters():
            if not parameter.any() and "position" in path:  # tables of DeiT and Swin, which start at zero
                torch.nn.init.normal_(parameter)
    return made


def save(model: Any, directory: Path, **settings: Any) -> Path:
    """Write a model as its users would; returns the directory."""
    model.save_pretrained(directory, **settings)
    return directory


def inputs(name: str, model: Any) -> dict[str, Any]:
    """Random inputs, of as many positions as there are."""
    import torch

    generator = torch.Generator().manual_seed(1)
    tokens = torch.randint(5, VOCAB, (1, 9), generator=generator)
    image = torch.randn(1, 3, 12, 12, generator=generator)
    if name in ("swin", "swinv2"):
        return {"pixel_values": torch.randn(1, 3, 16, 16, generator=generator)}
    if name in ("vit", "deit", "dinov2"):
        return {"pixel_values": image}
    if name in ("clip", "siglip"):
        return {"pixel_values": image, "input_ids": tokens}
    if name == "whisper":
        return {"input_features": torch.randn(1, 4, 2 * LENGTH, generator=generator), "decoder_input_ids": tokens}
    return {"input_ids": tokens} | ({"decoder_input_ids": tokens} if model.config.is_encoder_decoder else {})


@contextmanager
def attention_inputs(model: Any) -> Iterator[Callable[[str], list[np.ndarray]]]:
    """What goes into the queries of every layer, in order; to be asked for by the name of a stack."""
    seen: list[tuple[str, np.ndarray]] = []
    handles = []
    for name, module in model.named_modules():
        if _QUERIES.search(name) and not _CROSS.search(name):

            def hook(_: Any, arguments: Any, name: str = name) -> None:
                x = arguments[0].detach().double().numpy()
                if name.endswith("rel_attn"):  # tokens first
                    x = x.swapaxes(0, 1)
                if not (name.endswith("query_proj") and x.shape[1] == 2 * BUCKETS):  # DeBERTa's vectors of the lag
                    seen.append((name, x))

            handles.append(module.register_forward_pre_hook(hook))

    def of(stack: str) -> list[np.ndarray]:
        names = {name for name, _ in seen}
        split = any("encoder" in name for name in names) and any("decoder" in name for name in names)
        split |= any("text_model" in name for name in names)
        split |= stack.startswith("stage")
        key = {"text": "text_model", "vision": "vision_model"}.get(stack, f"{stack}.")
        key = f"encoder.layers.{int(stack[-1]) - 1}." if stack.startswith("stage") else key
        return [x for name, x in seen if not split or key in name]

    yield of
    for handle in handles:
        handle.remove()


def attentions(name: str, model: Any, stack: str) -> list[np.ndarray]:
    """Attention probabilities of torch's own forward pass, (heads, queries, keys) by layer."""
    import torch

    if name in ("swin", "swinv2"):
        return window_attentions(name, model, stack)
    with torch.no_grad():
        out = model(**inputs(name, model), output_attentions=True)
    if name in ("clip", "siglip"):
        out = out.text_model_output if stack == "text" else out.vision_model_output
    keys = (f"{stack}_attentions", "attentions")
    found = next(value for key in keys if (value := getattr(out, key, None)) is not None)
    return [layer[0].double().numpy() for layer in found]


def window_attentions(name: str, model: Any, stack: str) -> list[np.ndarray]:
    """Attention probabilities of the first window of each layer of a stage, which a shift does not cut."""
    import torch

    kept: list[np.ndarray] = []
    layers = model.encoder.layers[int(stack[-1]) - 1].blocks
    handles = [
        layer.attention.register_forward_hook(lambda _, __, out: kept.append(out[1][0].double().numpy()))
        for layer in layers
    ]
    with torch.no_grad():
        model(**inputs(name, model), output_attentions=True)
    for handle in handles:
        handle.remove()
    return kept
