"""GPT-2 in plain PyTorch: the loss and the gradients of a model in the layout of llm.c.

    python3 torch_agreement.py MODEL BATCH RESULT [float32|float64]

BATCH has the length of sequences, all tokens and all targets, 32 bits each. RESULT gets the loss and
the gradients of the sixteen tensors, in their order, 32 bits each.
"""

import ctypes
import struct
import sys

import torch
import torch.nn.functional as F


def numbers(data, dtype):
    return torch.frombuffer(bytearray(data), dtype=dtype)


def read_model(path, dtype):
    """The shape, and the tensors by name."""
    with open(path, "rb") as file:
        header = struct.unpack("<256i", file.read(1024))
        data = numbers(file.read(), torch.float32).to(dtype)
    magic, version, positions, vocabulary, layers, heads, c, padded = header[:8]
    assert (magic, version) == (20240326, 3), "not a model in the layout of llm.c"
    shapes = {
        "wte": (padded, c),
        "wpe": (positions, c),
        "ln1w": (layers, c),
        "ln1b": (layers, c),
        "qkvw": (layers, 3 * c, c),
        "qkvb": (layers, 3 * c),
        "attprojw": (layers, c, c),
        "attprojb": (layers, c),
        "ln2w": (layers, c),
        "ln2b": (layers, c),
        "fcw": (layers, 4 * c, c),
        "fcb": (layers, 4 * c),
        "fcprojw": (layers, c, 4 * c),
        "fcprojb": (layers, c),
        "lnfw": (c,),
        "lnfb": (c,),
    }
    tensors, start = {}, 0
    for name, shape in shapes.items():
        size = torch.Size(shape).numel()
        tensor = data[start : start + size].reshape(shape).clone()
        tensors[name] = tensor.requires_grad_()
        start += size
    assert start == data.numel(), "the file has another size than its header says"
    return (vocabulary, layers, heads, c), tensors


def loss_of(shape, p, tokens, targets):
    vocabulary, layers, heads, c = shape
    batch, length = tokens.shape

    def split(x):
        return x.view(batch, length, heads, c // heads).transpose(1, 2)

    x = p["wte"][tokens] + p["wpe"][:length]
    for i in range(layers):
        normed = F.layer_norm(x, (c,), p["ln1w"][i], p["ln1b"][i], 1e-5)
        qkv = F.linear(normed, p["qkvw"][i], p["qkvb"][i])
        query, key, value = (split(part) for part in qkv.split(c, dim=2))
        attended = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        attended = attended.transpose(1, 2).reshape(batch, length, c)
        x = x + F.linear(attended, p["attprojw"][i], p["attprojb"][i])
        normed = F.layer_norm(x, (c,), p["ln2w"][i], p["ln2b"][i], 1e-5)
        hidden = F.gelu(F.linear(normed, p["fcw"][i], p["fcb"][i]), approximate="tanh")
        x = x + F.linear(hidden, p["fcprojw"][i], p["fcprojb"][i])
    logits = F.linear(F.layer_norm(x, (c,), p["lnfw"], p["lnfb"], 1e-5), p["wte"])
    # Rows of the padded vocabulary beyond the real one are no tokens.
    logits = logits[:, :, :vocabulary].reshape(-1, vocabulary)
    return F.cross_entropy(logits, targets.reshape(-1))


def main(model, batch, result, precision="float32"):
    shape, parameters = read_model(model, getattr(torch, precision))
    with open(batch, "rb") as file:
        words = numbers(file.read(), torch.int32).long()
    length, words = int(words[0]), words[1:]
    tokens, targets = words.view(2, -1, length)
    loss = loss_of(shape, parameters, tokens, targets)
    loss.backward()
    with open(result, "wb") as file:
        for tensor in [loss.detach(), *(tensor.grad for tensor in parameters.values())]:
            tensor = tensor.to(torch.float32).contiguous()
            file.write(ctypes.string_at(tensor.data_ptr(), 4 * tensor.numel()))


if __name__ == "__main__":
    main(*sys.argv[1:])
