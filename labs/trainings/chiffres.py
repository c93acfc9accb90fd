"""`chiffres` : reconnaître des chiffres dessinés par le programme lui-même (équipe vision).

A small convolutional network that classifies digits drawn by this very program.
"""

import torch
from torch import nn
from torch.nn import functional as F

import commun

COTE = 20
# Chaque chiffre sur cinq colonnes et sept lignes.
DESSINS = [
    "01110100011001110101110011000101110", "00100011000010000100001000010001110", "01110100010000100010001000100011111",
    "11111000100010000010000011000101110", "00010001100101010010111110001000010", "11111100001111000001000011000101110",
    "00110010001000011110100011000101110", "11111000010001000100010000100001000", "01110100011000101110100011000101110",
    "01110100011000101111000010001001100",
]
MODELES = torch.tensor([[float(point) for point in dessin] for dessin in DESSINS]).view(10, 1, 7, 5)


def exemples(hasard, nombre):
    """Des chiffres agrandis, déplacés, plus ou moins sombres, et bruités."""
    etiquettes = torch.randint(10, (nombre,), generator=hasard)
    dessins = MODELES[etiquettes].repeat_interleave(2, 2).repeat_interleave(2, 3)
    images = torch.zeros(nombre, 1, COTE, COTE)
    lignes = torch.randint(COTE - 14 + 1, (nombre,), generator=hasard).tolist()
    colonnes = torch.randint(COTE - 10 + 1, (nombre,), generator=hasard).tolist()
    for image, dessin, ligne, colonne in zip(images, dessins, lignes, colonnes):
        image[:, ligne : ligne + 14, colonne : colonne + 10] = dessin
    force = 0.35 + 0.65 * torch.rand(nombre, 1, 1, 1, generator=hasard)
    bruit = 0.45 * torch.randn(images.shape, generator=hasard)
    return images * force + bruit, etiquettes


def construire():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 10),
    )


def perte(modele, images, etiquettes):
    return F.cross_entropy(modele(images), etiquettes)


def evaluer(modele, hasard):
    images, etiquettes = exemples(hasard, 1000)
    justes = (modele(images).argmax(1) == etiquettes).float().mean().item()
    return {"exactitude": round(justes, 4)}


if __name__ == "__main__":
    choix = commun.options("chiffres", pas=1200, lot=96, rythme=1e-3)
    commun.entrainer("chiffres", choix, construire, exemples, perte, evaluer)
