lab-title = Les murs
lab-summary = Ce que l’on ne doit pas voir depuis le terminal d’un stagiaire.
lab-goals = Constater que les murs tiennent
murs-tiennent = Les murs tiennent
    .waiting = Essayez les murs.
    .failed = Un mur est percé.
