"""`cinema` : recommander des films d'après des notes inventées mais cohérentes (équipe recommandation).

A recommender that learns tastes from ratings which are made up, yet follow hidden tastes.
"""

import torch
from torch import nn
from torch.nn import functional as F

import commun

PERSONNES, FILMS, GOUTS = 4000, 1500, 6
# Les goûts cachés : le modèle ne les voit jamais, il ne voit que des notes.
secret = torch.Generator().manual_seed(1895)
GOUT_DES_PERSONNES = torch.randn(PERSONNES, GOUTS, generator=secret)
GOUT_DES_FILMS = torch.randn(FILMS, GOUTS, generator=secret)
HUMEUR = 0.5 * torch.randn(PERSONNES, generator=secret)


def exemples(hasard, nombre):
    """Une personne, un film, la note de un à cinq qu'elle lui donne ce jour-là."""
    personnes = torch.randint(PERSONNES, (nombre,), generator=hasard)
    films = torch.randint(FILMS, (nombre,), generator=hasard)
    accord = (GOUT_DES_PERSONNES[personnes] * GOUT_DES_FILMS[films]).sum(1) / GOUTS**0.5
    notes = 3 + accord + HUMEUR[personnes] + 0.3 * torch.randn(nombre, generator=hasard)
    return personnes, films, notes.clamp(1, 5)


class Cinema(nn.Module):
    def __init__(self, largeur=32):
        super().__init__()
        self.personnes = nn.Embedding(PERSONNES, largeur)
        self.films = nn.Embedding(FILMS, largeur)
        self.note = nn.Sequential(nn.Linear(3 * largeur, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, personnes, films):
        qui, quoi = self.personnes(personnes), self.films(films)
        return 3 + self.note(torch.cat([qui, quoi, qui * quoi], 1)).squeeze(1)


def perte(modele, personnes, films, notes):
    return F.mse_loss(modele(personnes, films), notes)


def evaluer(modele, hasard):
    personnes, films, notes = exemples(hasard, 5000)
    ecart = (modele(personnes, films).clamp(1, 5) - notes).abs().mean().item()
    return {"ecart_moyen": round(ecart, 4)}


if __name__ == "__main__":
    choix = commun.options("cinema", pas=2500, lot=1024, rythme=3e-3)
    commun.entrainer("cinema", choix, Cinema, exemples, perte, evaluer)
