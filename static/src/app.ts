// What every page does.

import { enableAnswers } from "./answers";
import { enableCopy } from "./copy";
import { follow } from "./events";
import { enableTimes } from "./times";

follow();
enableCopy();
enableAnswers();
enableTimes();
document.documentElement.classList.add("scripted");
