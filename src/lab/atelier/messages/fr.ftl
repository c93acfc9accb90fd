# Les mots de l’interface. Une clé par ligne ; « script-… » va aux scripts, où {x} est remplacé.

skip = Aller au contenu
preferences = Préférences
language = Langue
theme = Thème
theme-system = Thème du système
theme-light = Thème clair
theme-dark = Thème sombre
not-bundled = L’interface n’a pas été construite : les pages se lisent, mais le terminal et les mises à jour manquent. Lancez « npm ci && npm run build » dans le dossier static, ou « cargo xtask up ».
stream-lost = La connexion avec le serveur est perdue. Ce que vous voyez n’est plus à jour ; la page se reconnecte d’elle-même.
back-home = Retour à l’accueil

# Accueil
home-title = Kueue en trois jours
home-lead = Six demi-journées d’atelier. Vous disposez d’un cluster Kubernetes à vous, avec des nœuds GPU simulés ; chaque étape se valide d’elle-même quand le cluster a fait ce qu’il fallait.
day = Jour { $n }
morning = Matin
afternoon = Après-midi
able-to = À la fin, vous saurez :
about-hours = environ { $x }
hours = { $n } h
hours-half = { $n } h 30
steps = { $n ->
    [one] { $n } étape
   *[other] { $n } étapes
}
begin = Commencer
continue = Continuer
resume = Reprendre
report = Bilan
not-written = Cette demi-journée n’est pas encore écrite.
faults = Ateliers à corriger
points-of = { $n } / { $of } { $of ->
    [one] point
   *[other] points
}
points = { $n ->
    [one] { $n } point
   *[other] { $n } points
}
points-word = Points
criteria-of = { $n ->
    [one] { $n } critère rempli
   *[other] { $n } critères remplis
} sur { $of }

half-1-am-title = Comprendre et installer Kueue
half-1-am-goals = expliquer pourquoi des GPU partagés se disputent ; installer Kueue avec Helm ; créer une première file et suivre l’admission d’un Job
half-1-pm-title = Configurer les quotas et les profils GPU
half-1-pm-goals = rattacher des équipes à leurs files ; décrire les GPU par des ResourceFlavors ; dimensionner les quotas et choisir StrictFIFO ou BestEffortFIFO
half-2-am-title = Partager les ressources entre équipes
half-2-am-goals = prêter et emprunter du quota dans une cohorte ; partager équitablement avec des poids ; fixer priorités et préemption
half-2-pm-title = Entraîner plusieurs modèles simultanément
half-2-pm-goals = préparer des Jobs d’entraînement PyTorch ; lancer plusieurs modèles sur des GPU partagés ; limiter les pertes avec des points de contrôle
half-3-am-title = Fiabiliser les entraînements distribués
half-3-am-goals = lancer un PyTorchJob à travers Kueue ; régler waitForPodsReady et la remise en file ; placer les workers selon la topologie
half-3-pm-title = Superviser et optimiser le cluster partagé
half-3-pm-goals = lire les décisions d’admission ; mesurer attentes et quotas ; trouver un blocage et le lever sans casser le reste

# Atelier
panes = Parties de la page
lesson = Leçon
terminal-and-board = Terminal et tableau
steps-nav = Étapes de l’atelier
step-of = étape { $n } / { $of }
step-done = terminée
minutes = { $n } min
contents = Dans cette étape
turn = Étape précédente et suivante
to-report = Bilan
split = Largeur de la leçon
workbench = Plan de travail
board = Tableau
criteria = Critères
why = Pourquoi ?
no-evidence = Aucun fait observé pour l’instant.
run = Exécuter
copy = Copier
output = Ce que cela affiche
question = Question
prediction = Prédiction
answer = Répondre
answers = Réponses
fold-hint = Indice
fold-more = Pour aller plus loin
fold-trouble = Si cela ne marche pas
callout-note = Remarque
callout-warning = Attention
callout-expected = Ce que vous devez voir
callout-why = Ce que cela veut dire
answer-no-environment = Il n’y a pas d’environnement en marche : démarrez-le, puis répondez.
standing = État
standing-passed = Rempli
standing-failed = Non rempli
standing-waiting = En attente
standing-not-judged = Non jugé
say-passed = Critère rempli : { $x }
say-failed = Critère non rempli : { $x }

# Terminal
terminal-new = Ouvrir un terminal
terminal-tools = Outils du terminal
find = Chercher dans le terminal
find-back = Résultat précédent
find-on = Résultat suivant
screen-reader = Mode lecteur d’écran
leave-terminal = Ctrl+Échap quitte le terminal. Ctrl+Maj+C copie, Ctrl+V colle.
terminal-too-many = Dix terminaux sont déjà ouverts : fermez-en un.
terminal-no-environment = Il n’y a pas d’environnement en marche : démarrez-le d’abord.
terminal-no-sandbox = Le terminal ne démarre pas : bubblewrap manque sur cette machine, et sans lui le shell ne serait pas isolé. Installez le paquet « bubblewrap », puis rechargez la page.
terminal-shell-failed = Le shell n’a pas pu démarrer. Le journal du serveur dit pourquoi.

# Tableau
board-none = Le tableau se remplit quand l’environnement est en marche.
board-queues = Files
board-no-queues = Aucune ClusterQueue pour l’instant.
board-workloads = Workloads
board-no-workloads = Aucun Workload pour l’instant.
board-nodes = Nœuds
cohort = cohorte
queue-inactive = inactive
queue-counts = { $pending } en attente · { $admitted } { $admitted ->
    [one] admis
   *[other] admis
}
flavor = Profil
flavor-of = profil
resource = Ressource
use = Utilisation
use-figures = Utilisé / quota
borrowed = { $x } emprunté
state = État
job = Job
local-queue = File
requests = Demande
workload-lacks = Il manque { $amount } { $resource } dans le profil { $flavor }.
workload-queued = En attente
workload-reserved = Quota réservé
workload-admitted = Admis
workload-running = En cours
workload-evicted = Évincé
workload-finished = Terminé
node-not-ready = pas prêt
node-cordoned = fermé
node-no-gpus = sans GPU
gpus-of = { $n } / { $of } GPU utilisés
gpus = { $n } GPU

# Environnement
environment = Environnement
environment-lead = Votre cluster : de vrais serveurs Kubernetes, et des nœuds GPU simulés. Il continue de vivre quand vous fermez cette page.
environment-absent = Pas d’environnement
environment-starting = Démarrage
environment-running = En marche
environment-stopping = Arrêt en cours
environment-stopped = Arrêté
environment-deleting = Suppression
environment-broken = En panne
environment-absent-text = Rien n’existe encore. La création prend quelques secondes.
environment-starting-text = Les serveurs démarrent l’un après l’autre. Vous pouvez déjà lire la leçon.
environment-running-text = Tout fonctionne.
environment-stopping-text = Les serveurs s’arrêtent ; vos objets restent sur le disque.
environment-stopped-text = Rien ne tourne. Vos objets et vos fichiers sont gardés.
environment-deleting-text = L’environnement est en cours de suppression. Après une réinitialisation, un autre démarre aussitôt.
environment-broken-text = Un serveur devrait tourner et ne tourne pas. Vos objets sont sur le disque ; démarrer de nouveau suffit le plus souvent.
profile = profil
phases = Phases du démarrage
phase-ahead = à venir
phase-started = en cours
phase-failed = échec
phase-directory = Préparer le dossier
phase-certificates = Émettre les certificats
phase-etcd = Démarrer etcd
phase-api-server = Démarrer le serveur d’API
phase-containers = Créer les conteneurs des nœuds
phase-controller-manager = Démarrer les contrôleurs
phase-scheduler = Démarrer le scheduler
phase-rules = Poser les règles et les droits
phase-nodes = Créer les nœuds simulés
phase-host-node = Relier le nœud de la plateforme
phase-ready = Vérifier que tout répond
seconds = { $n } s
trouble = Incidents
child-died = s’est arrêté ; nouvel essai en cours (tentative { $n })
child-restarted = s’était arrêté et tourne de nouveau (tentative { $n })
acts = Actions
acts-none = Rien à faire pendant ce changement d’état.
act-create = Créer l’environnement
act-create-effect = Démarre un cluster neuf, avec les nœuds de l’atelier en cours.
act-start = Démarrer
act-start-effect = Relance les serveurs sur les données gardées.
act-stop = Arrêter
act-stop-effect = Arrête les serveurs et ferme les terminaux. Vos objets et vos fichiers sont gardés.
act-reset = Réinitialiser
act-reset-effect = Détruit tous les objets du cluster, ferme les terminaux et efface les critères remplis et les réponses : l’atelier se juge à neuf. Vos fichiers sont gardés.
act-reset-confirm = Détruire et recommencer
act-delete = Supprimer
act-delete-effect = Détruit le cluster, ses objets et l’historique des critères. Vos fichiers sont gardés.
act-delete-confirm = Tout supprimer
access = Accès
kubeconfig-text = Ce kubeconfig est celui du stagiaire, pas celui de l’administrateur : il a les mêmes droits que votre terminal, et ne sert que sur cette machine.
kubeconfig = Télécharger le kubeconfig
kubeconfig-none = Il sera là quand l’environnement aura démarré.
logs = Journaux
logs-text = La fin du journal de chaque programme de l’environnement.
logs-none = Pas encore de journaux.
offer-create = Votre cluster n’existe pas encore
offer-create-text = Il vous en faut un pour cet atelier : de vrais serveurs Kubernetes et des nœuds GPU simulés, rien qu’à vous.
offer-start = Votre cluster est arrêté
offer-start-text = Vos objets et vos fichiers sont gardés ; démarrez-le pour continuer.
offer-broken = Votre cluster est en panne
offer-broken-text = Vos objets sont sur le disque. Démarrer de nouveau suffit le plus souvent.
offer-time = Compter de 6 à 20 secondes.
offer-late = Cette phase dure plus que d’habitude : la machine est sans doute très occupée. Le démarrage continue, il n’y a rien à relancer.
offer-ready = Votre cluster est prêt.
offer-open = Ouvrir le terminal

# Bilan
report-lead = Chaque critère avec les faits sur lesquels son verdict repose. Les heures sont celles de l’enregistrement.
back-to-lab = Revenir à l’atelier
criterion = Critère

# Erreurs
error-safe = Ce qui est en sûreté
error-do = Ce que vous pouvez faire
error-reference = Numéro de référence : { $x }
error-not-found = Cette page n’existe pas
error-not-found-safe = Tout : votre environnement, vos fichiers et vos critères ne sont pas touchés.
error-not-found-do = Vérifiez l’adresse, ou repartez de l’accueil.
error-refused = La demande a été refusée
error-refused-safe = Tout : rien n’a été exécuté.
error-refused-do = Cette action doit venir d’une page de cette plateforme, ouverte dans ce navigateur. Rechargez la page et recommencez.
error-host = Cette adresse n’est pas servie ici
error-host-safe = Tout : rien n’a été exécuté.
error-host-do = Ouvrez http://127.0.0.1:8080, ou l’adresse que votre formateur vous a donnée.
error-unreadable = La demande n’a pas pu être lue
error-unreadable-safe = Tout : rien n’a été exécuté.
error-unreadable-do = Rechargez la page et recommencez.
error-not-now = Ce n’est pas possible maintenant
error-not-now-safe = Tout : rien n’a été exécuté.
error-not-now-do = L’état de l’environnement a changé entre-temps. Regardez où il en est, puis décidez.
error-no-environment = Il n’y a pas d’environnement
error-no-environment-safe = Tout : rien n’a été exécuté.
error-no-environment-do = Créez ou démarrez l’environnement, puis recommencez.
error-internal = Quelque chose s’est mal passé de notre côté
error-internal-safe = Votre environnement et vos terminaux continuent de tourner ; ce qui a été enregistré le reste.
error-internal-do = Recommencez dans un instant. Si cela se répète, donnez le numéro de référence à votre formateur : le journal du serveur le contient.

# Pour les scripts
script-copied = Copié.
script-not-copied = La copie a été refusée par le navigateur : sélectionnez le texte.
script-answer-kept = Réponse enregistrée.
script-answer-empty = Il manque une réponse, ou ce n’est pas un nombre.
script-answer-lost = La réponse n’a pas pu être envoyée. Recommencez.
script-retry = Réessayer maintenant
script-terminal-name = Terminal {"{x}"}
script-terminal-close = Fermer le terminal {"{x}"}
script-terminal-none = Aucun terminal n’est ouvert.
script-terminal-left = Vous avez quitté le terminal. Entrée ou Espace y revient.
script-terminal-lost = La connexion avec le terminal est perdue. Le shell continue de tourner ; la page se reconnecte d’elle-même.
script-terminal-lost-keys = La connexion avec le terminal est perdue. Votre frappe ({"{x}"} octets) est gardée et sera envoyée une fois.
script-terminal-back = Le terminal est de nouveau relié.
script-terminal-no-upgrade = Le serveur répond, mais un proxy ne laisse pas passer les WebSockets. Il doit transmettre les en-têtes Upgrade et Connection. Nouvel essai toutes les dix secondes.
script-terminal-gap = … sortie trop longue : une partie n’est pas montrée …
script-terminal-restarted = C’est un nouveau shell : la plateforme a redémarré et l’ancien s’est arrêté avec elle. Vos fichiers sont là.
script-terminal-restarted-keys = C’est un nouveau shell : la plateforme a redémarré. Ce que vous avez tapé entre-temps n’a pas été envoyé.
script-terminal-ended = Le shell s’est terminé.
script-terminal-ended-code = Le shell s’est terminé (code {"{x}"}). Fermez l’onglet ou ouvrez-en un autre avec +.
script-terminal-ended-killed = Le shell a été arrêté. Fermez l’onglet ou ouvrez-en un autre avec +.
script-terminal-ended-closed = Ce terminal a été fermé.
script-terminal-ended-shutdown = La plateforme s’arrête ; ce shell s’est arrêté avec elle.
script-terminal-ended-environment-stopped = L’environnement a été arrêté ; ce shell s’est arrêté avec lui.
script-terminal-ended-environment-reset = L’environnement a été réinitialisé ; ce shell s’est arrêté avec lui.
script-terminal-refused-token = Cette page date d’avant : rechargez-la.
script-terminal-refused-unknown-terminal = Ce terminal n’existe plus : la plateforme a redémarré ou il a été fermé. Ouvrez-en un autre avec +.
