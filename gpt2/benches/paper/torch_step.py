"""A step of GPT-2 124M in PyTorch: forward, backward, AdamW.

    python3 torch_step.py THREADS compiled|eager [tiny]

Prints one JSON object, as the other programs of the benchmark do.
"""

import json
import os
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F


class Layer(nn.Module):
    def __init__(self, channels, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(channels), nn.LayerNorm(channels)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.attproj = nn.Linear(channels, channels)
        self.fc = nn.Linear(channels, 4 * channels)
        self.fcproj = nn.Linear(4 * channels, channels)

    def forward(self, x):
        batch, length, channels = x.shape

        def split(x):
            return x.view(batch, length, self.heads, channels // self.heads).transpose(1, 2)

        query, key, value = (split(part) for part in self.qkv(self.ln1(x)).split(channels, dim=2))
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.attproj(attended.transpose(1, 2).reshape(batch, length, channels))
        return x + self.fcproj(F.gelu(self.fc(self.ln2(x)), approximate="tanh"))


class Model(nn.Module):
    """Embeddings and logits share their weights; the padded vocabulary is left out, as it may be."""

    def __init__(self, positions, vocabulary, layers, heads, channels):
        super().__init__()
        self.wte = nn.Embedding(vocabulary, channels)
        self.wpe = nn.Embedding(positions, channels)
        self.layers = nn.ModuleList(Layer(channels, heads) for _ in range(layers))
        self.lnf = nn.LayerNorm(channels)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, tokens, targets):
        x = self.wte(tokens) + self.wpe.weight[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x)
        logits = F.linear(self.lnf(x), self.wte.weight)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main(threads, mode, size="124M"):
    threads = int(threads) or os.cpu_count()
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    is_tiny = size == "tiny"
    shape = (8, 40, 2, 2, 24) if is_tiny else (1024, 50257, 12, 12, 768)
    batch, length = (2, 8) if is_tiny else (4, 64)
    model = Model(*shape)
    loss_of = torch.compile(model) if mode == "compiled" else model
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.0, fused=True)
    tokens, targets = torch.randint(shape[1], (2, batch, length))

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss_of(tokens, targets).backward()
        optimizer.step()

    clock = time.process_time if threads == 1 else time.perf_counter
    # The first ones compile and allocate.
    for _ in range(2):
        step()
    best = float("inf")
    for _ in range(1 if is_tiny else 6):
        start = clock()
        step()
        best = min(best, clock() - start)
    variant = f"{mode}, {'one thread' if threads == 1 else 'all threads'}"
    print(json.dumps({"name": "gpt2 124M step", "variant": variant, "synthesized_ms": best * 1e3}))


if __name__ == "__main__":
    main(*sys.argv[1:])
