"""Ce que les trois entraînements partagent : options, boucle, points de contrôle, arrêt propre, processus répartis.

What the three trainings share: options, loop, checkpoints, clean stop, distributed processes.
"""

import argparse
import hashlib
import io
import json
import os
import pathlib
import signal
import sys
import time

import torch
import torch.distributed as dist

# Codes de sortie : arrêté par SIGTERM (comme le ferait un shell), aucun point de contrôle utilisable.
ARRETE = 143
AUCUN_POINT_SAIN = 3


def options(nom, pas, lot, rythme):
    """Les options communes ; `pas`, `lot` et `rythme` sont les valeurs usuelles du modèle."""
    lecteur = argparse.ArgumentParser(prog=f"{nom}.py")
    lecteur.add_argument("--pas", "--steps", type=int, default=pas, help="nombre de pas d'entraînement")
    lecteur.add_argument("--lot", "--batch", type=int, default=lot, help="exemples par pas, tous processus confondus")
    lecteur.add_argument("--rythme", "--lr", type=float, default=rythme, help="taux d'apprentissage")
    lecteur.add_argument("--graine", "--seed", type=int, default=7, help="même graine, même résultat")
    lecteur.add_argument("--points", "--checkpoints", type=pathlib.Path, help="dossier des points de contrôle (sans lui, tout recommence)")
    lecteur.add_argument("--tous-les", "--every", type=int, default=50, help="un point de contrôle tous les n pas")
    lecteur.add_argument("--journal", "--log-every", type=int, default=20, help="une ligne de journal tous les n pas")
    lecteur.add_argument("--attente-donnees", "--data-wait", type=float, default=0.0, help="secondes perdues par pas à attendre les données")
    lecteur.add_argument("--resultat", "--result", type=pathlib.Path, help="fichier JSON où écrire le résultat")
    return lecteur.parse_args()


def dire(texte):
    print(texte, flush=True)


# --- Points de contrôle -------------------------------------------------------------------------------------------------
# Un fichier par point : une ligne lisible (`head -1`), puis ce que torch.save a écrit. La ligne dit combien d'octets suivent et
# leur empreinte : un fichier coupé par une panne se reconnaît au lieu d'être pris pour bon.


class PointAbime(Exception):
    pass


def ecrire_point(dossier, pas, etat):
    """Écrit à côté, force sur le disque, puis renomme : à tout instant le dernier point est entier."""
    dossier.mkdir(parents=True, exist_ok=True)
    tampon = io.BytesIO()
    torch.save(etat, tampon)
    donnees = tampon.getvalue()
    entete = f"atelier-point pas={pas} octets={len(donnees)} sha256={hashlib.sha256(donnees).hexdigest()}\n"
    chemin = dossier / f"point-{pas:08d}.pt"
    provisoire = chemin.with_suffix(".tmp")
    with open(provisoire, "wb") as fichier:
        fichier.write(entete.encode())
        fichier.write(donnees)
        fichier.flush()
        os.fsync(fichier.fileno())
    os.replace(provisoire, chemin)
    # Deux suffisent : le dernier, et celui d'avant si le dernier s'abîme.
    for ancien in sorted(dossier.glob("point-*.pt"))[:-2]:
        ancien.unlink()


def lire_point(chemin):
    with open(chemin, "rb") as fichier:
        entete = fichier.readline(400).decode("ascii", "replace").split()
        donnees = fichier.read()
    if len(entete) != 4 or entete[0] != "atelier-point":
        raise PointAbime("ce n'est pas un point de contrôle (not a checkpoint)")
    attendu = dict(mot.split("=", 1) for mot in entete[1:])
    if len(donnees) != int(attendu["octets"]):
        raise PointAbime(f"tronqué : {len(donnees)} octets sur {attendu['octets']} (truncated)")
    if hashlib.sha256(donnees).hexdigest() != attendu["sha256"]:
        raise PointAbime("contenu altéré : l'empreinte ne correspond pas (corrupted)")
    return torch.load(io.BytesIO(donnees))


def dernier_point(dossier):
    """Le plus récent qui soit sain. Un point abîmé est refusé et nommé ; s'il n'en reste aucun de sain, on s'arrête."""
    points = sorted(dossier.glob("point-*.pt"), reverse=True) if dossier else []
    for chemin in points:
        try:
            return lire_point(chemin)
        except PointAbime as raison:
            dire(f"point de contrôle refusé (checkpoint refused) : {chemin.name} : {raison}")
    if points:
        dire(f"aucun point de contrôle sain dans {dossier} : supprimez-les pour recommencer au pas 0 (no usable checkpoint)")
        sys.exit(AUCUN_POINT_SAIN)
    return None


# --- Processus répartis -------------------------------------------------------------------------------------------------
# PyTorchJob donne à chaque pod MASTER_ADDR, MASTER_PORT, WORLD_SIZE et RANK ; `gloo` suffit pour des processeurs ordinaires.


class Equipe:
    def __init__(self):
        self.nombre = int(os.environ.get("WORLD_SIZE", "1"))
        self.rang = int(os.environ.get("RANK", "0"))
        self.communication = 0.0
        if self.nombre > 1:
            dist.init_process_group("gloo")

    @property
    def chef(self):
        return self.rang == 0

    def ma_part(self, lot):
        """Les exemples de ce processus : le lot entier est le même partout, chacun en prend un morceau."""
        return [morceau.chunk(self.nombre)[self.rang] for morceau in lot]

    def moyenne(self, modele):
        """La moyenne des gradients : après elle, tous les processus font exactement le même pas."""
        if self.nombre == 1:
            return
        debut = time.monotonic()
        for parametre in modele.parameters():
            dist.all_reduce(parametre.grad)
            parametre.grad /= self.nombre
        self.communication += time.monotonic() - debut

    def un_seul_suffit(self, vrai):
        """Vrai partout dès que c'est vrai chez l'un : on s'arrête ensemble, au même pas."""
        if self.nombre == 1:
            return vrai
        drapeau = torch.tensor([1.0 if vrai else 0.0])
        dist.all_reduce(drapeau, op=dist.ReduceOp.MAX)
        return drapeau.item() > 0

    def diffuser(self, etat):
        """Ce que le chef a lu, tous l'ont : les autres n'ont pas besoin de voir son volume."""
        if self.nombre == 1:
            return etat
        boite = [etat]
        dist.broadcast_object_list(boite, src=0)
        return boite[0]

    def fin(self):
        if self.nombre > 1:
            dist.destroy_process_group()


# --- Boucle -------------------------------------------------------------------------------------------------------------


class Arret:
    """SIGTERM demande de s'arrêter bientôt : Kubernetes laisse ensuite `terminationGracePeriodSeconds`."""

    def __init__(self):
        self.demande = False
        signal.signal(signal.SIGTERM, self.noter)

    def noter(self, *_):
        self.demande = True


def generateur(graine, pas):
    """Le hasard d'un pas ne dépend que de la graine et du pas : reprendre au pas n redonne les mêmes exemples."""
    return torch.Generator().manual_seed(graine * 1_000_003 + pas)


def rapporter(occupe, total):
    """Dit à l'exportateur quelle part du temps passe en calcul : qui attend ses données laisse son GPU oisif."""
    chemin = os.environ.get("ATELIER_GPU_REPORT")
    if not chemin or total <= 0:
        return
    try:
        with open(chemin + ".tmp", "w") as fichier:
            json.dump({"utilisation": round(100 * occupe / total)}, fichier)
        os.replace(chemin + ".tmp", chemin)
    except OSError:
        pass  # Sans GPU simulé il n'y a pas d'exportateur, et l'entraînement n'en dépend pas.


def empreinte(modele):
    """Deux modèles ont la même empreinte quand tous leurs paramètres sont égaux au bit près."""
    somme = hashlib.sha256()
    for nom, tenseur in sorted(modele.state_dict().items()):
        somme.update(nom.encode())
        somme.update(tenseur.contiguous().numpy().tobytes())
    return somme.hexdigest()[:16]


def entrainer(nom, choix, construire, exemples, perte, evaluer):
    """Entraîne jusqu'au dernier pas, ou jusqu'à ce qu'on demande d'arrêter."""
    arret = Arret()
    torch.manual_seed(choix.graine)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.use_deterministic_algorithms(True)
    equipe = Equipe()
    modele = construire()
    optimiseur = torch.optim.Adam(modele.parameters(), lr=choix.rythme)
    etat = equipe.diffuser(dernier_point(choix.points) if equipe.chef else None)
    depart = 0
    if etat:
        if etat["nom"] != nom or etat["graine"] != choix.graine:
            dire(f"le point de contrôle est celui de {etat['nom']}, graine {etat['graine']} : autre dossier, ou autre graine")
            sys.exit(AUCUN_POINT_SAIN)
        modele.load_state_dict(etat["modele"])
        optimiseur.load_state_dict(etat["optimiseur"])
        depart = etat["pas"]
    if equipe.chef:
        origine = f"reprend au pas {depart} (resumes)" if depart else "commence au pas 0 (starts)"
        dire(f"{nom} : {origine}, {choix.pas} pas, graine {choix.graine}, {equipe.nombre} processus")

    def sauver(pas):
        if equipe.chef and choix.points:
            ecrire_point(choix.points, pas, {"nom": nom, "graine": choix.graine, "pas": pas, "modele": modele.state_dict(), "optimiseur": optimiseur.state_dict()})
            dire(f"point de contrôle (checkpoint) pas={pas}")

    debut, vus, occupe = time.monotonic(), 0, 0.0
    for pas in range(depart, choix.pas):
        if choix.attente_donnees:
            time.sleep(choix.attente_donnees)
        calcul = time.monotonic()
        lot = equipe.ma_part(exemples(generateur(choix.graine, pas), choix.lot))
        valeur = perte(modele, *lot)
        optimiseur.zero_grad()
        valeur.backward()
        equipe.moyenne(modele)
        optimiseur.step()
        occupe += time.monotonic() - calcul
        vus += choix.lot
        fait = pas + 1
        duree = time.monotonic() - debut
        if equipe.chef and (fait % choix.journal == 0 or fait == choix.pas):
            reseau = f" all-reduce={1000 * equipe.communication / (fait - depart):.1f}ms" if equipe.nombre > 1 else ""
            dire(f"pas={fait}/{choix.pas} perte={valeur.item():.4f} exemples/s={vus / duree:.0f}{reseau}")
        if fait % choix.journal == 0:
            rapporter(occupe, duree)
        if equipe.un_seul_suffit(arret.demande):
            sauver(fait)
            if equipe.chef:
                dire(f"SIGTERM : arrêt après le pas {fait} (stopped)")
            equipe.fin()
            sys.exit(ARRETE)
        if fait % choix.tous_les == 0:
            sauver(fait)
    if equipe.chef:
        conclure(nom, choix, modele, evaluer, time.monotonic() - debut, depart)
    equipe.fin()


def conclure(nom, choix, modele, evaluer, duree, depart):
    with torch.no_grad():
        mesures = evaluer(modele, torch.Generator().manual_seed(choix.graine + 999))
    resultat = {"nom": nom, "pas": choix.pas, "depart": depart, "secondes": round(duree, 1), "empreinte": empreinte(modele), **mesures}
    dire("résultat (result) " + " ".join(f"{cle}={valeur}" for cle, valeur in resultat.items()))
    if choix.resultat:
        choix.resultat.parent.mkdir(parents=True, exist_ok=True)
        choix.resultat.write_text(json.dumps(resultat, ensure_ascii=False) + "\n")
