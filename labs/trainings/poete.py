"""`poete` : un petit transformeur qui apprend, lettre par lettre, des phrases fabriquées (équipe langage).

A small character transformer that learns sentences made by this very program.
"""

import torch
from torch import nn
from torch.nn import functional as F

import commun

SUJETS = ["la nuit", "le vent", "une ombre", "la mer", "un oiseau", "le matin", "la neige", "un enfant"]
VERBES = ["regarde", "appelle", "oublie", "traverse", "attend", "emporte", "rallume", "devine"]
OBJETS = ["la colline", "un vieux port", "les lampes", "le silence", "une promesse", "la route", "les pierres", "un secret"]
FINS = ["sans bruit", "encore", "au loin", "peu à peu", "ce soir", "en riant"]
LETTRES = sorted(set("".join(SUJETS + VERBES + OBJETS + FINS) + " ,.\n"))
NUMERO = {lettre: numero for numero, lettre in enumerate(LETTRES)}
LONGUEUR = 64


def phrase(hasard):
    mot = lambda mots: mots[torch.randint(len(mots), (1,), generator=hasard).item()]
    return f"{mot(SUJETS)} {mot(VERBES)} {mot(OBJETS)}, {mot(FINS)}.\n"


def exemples(hasard, nombre):
    """Des fenêtres de texte, et les mêmes décalées d'une lettre : ce qu'il faut deviner."""
    lignes = []
    for _ in range(nombre):
        texte = ""
        while len(texte) <= LONGUEUR:
            texte += phrase(hasard)
        lignes.append([NUMERO[lettre] for lettre in texte[: LONGUEUR + 1]])
    textes = torch.tensor(lignes)
    return textes[:, :-1], textes[:, 1:]


class Poete(nn.Module):
    def __init__(self, largeur=64, tetes=4, etages=2):
        super().__init__()
        self.lettres = nn.Embedding(len(LETTRES), largeur)
        self.places = nn.Parameter(0.02 * torch.randn(LONGUEUR, largeur))
        etage = nn.TransformerEncoderLayer(largeur, tetes, 4 * largeur, dropout=0.0, batch_first=True, norm_first=True)
        self.etages = nn.TransformerEncoder(etage, etages)
        self.sortie = nn.Linear(largeur, len(LETTRES))
        # Une lettre ne voit que celles d'avant.
        self.register_buffer("masque", torch.triu(torch.full((LONGUEUR, LONGUEUR), float("-inf")), 1))

    def forward(self, lettres):
        longueur = lettres.shape[1]
        vecteurs = self.lettres(lettres) + self.places[:longueur]
        return self.sortie(self.etages(vecteurs, self.masque[:longueur, :longueur]))


def perte(modele, lettres, suivantes):
    return F.cross_entropy(modele(lettres).flatten(0, 1), suivantes.flatten())


def evaluer(modele, hasard):
    lettres, suivantes = exemples(hasard, 64)
    texte = [NUMERO["l"], NUMERO["a"]]
    while len(texte) < LONGUEUR and texte[-1] != NUMERO["\n"]:
        texte.append(modele(torch.tensor([texte]))[0, -1].argmax().item())
    vers = "".join(LETTRES[numero] for numero in texte).strip().replace(" ", "_")
    return {"perplexite": round(perte(modele, lettres, suivantes).exp().item(), 4), "vers": vers}


if __name__ == "__main__":
    choix = commun.options("poete", pas=700, lot=24, rythme=2e-3)
    commun.entrainer("poete", choix, Poete, exemples, perte, evaluer)
