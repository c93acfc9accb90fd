// Runs before the first paint: the split where the reader left it.

const split = Number(window.localStorage.getItem("atelier-split"));
if (split >= 25 && split <= 75) document.documentElement.style.setProperty("--split", `${split}%`);
