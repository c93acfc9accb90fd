# The words of the interface. One key a line; "script-…" goes to the scripts, where {x} is replaced.

skip = Skip to content
preferences = Preferences
language = Language
theme = Theme
theme-system = System theme
theme-light = Light theme
theme-dark = Dark theme
not-bundled = The interface was not built: pages can be read, but terminal and live updates are missing. Run "npm ci && npm run build" in the folder static, or "cargo xtask up".
stream-lost = The connection to the server is lost. What you see is no longer up to date; the page reconnects by itself.
back-home = Back to the start

# Home
home-title = Kueue in three days
home-lead = Six half-day labs. You have a Kubernetes cluster of your own, with simulated GPU nodes; each step is checked by itself once the cluster has done what it should.
day = Day { $n }
morning = Morning
afternoon = Afternoon
able-to = Afterwards you will be able to:
about-hours = about { $x }
hours = { $n } h
hours-half = { $n } h 30
steps = { $n ->
    [one] { $n } step
   *[other] { $n } steps
}
begin = Begin
continue = Continue
resume = Resume
report = Report
not-written = This half-day is not written yet.
faults = Labs to correct
points-of = { $n } / { $of } { $of ->
    [one] point
   *[other] points
}
points = { $n ->
    [one] { $n } point
   *[other] { $n } points
}
points-word = Points
criteria-of = { $n } of { $of } criteria met

half-1-am-title = Understand and install Kueue
half-1-am-goals = explain why shared GPUs contend ; install Kueue with Helm ; create a first queue and follow a Job’s admission
half-1-pm-title = Configure quotas and GPU flavors
half-1-pm-goals = connect teams to their queues ; describe GPUs by ResourceFlavors ; size quotas and choose StrictFIFO or BestEffortFIFO
half-2-am-title = Share resources between teams
half-2-am-goals = lend and borrow quota in a cohort ; share fairly with weights ; set priorities and preemption
half-2-pm-title = Train several models at once
half-2-pm-goals = prepare PyTorch training Jobs ; run several models on shared GPUs ; limit losses with checkpoints
half-3-am-title = Make distributed training reliable
half-3-am-goals = run a PyTorchJob through Kueue ; tune waitForPodsReady and requeuing ; place workers by topology
half-3-pm-title = Supervise and optimise the shared cluster
half-3-pm-goals = read admission decisions ; measure waits and quotas ; find a blockage and remove it without breaking the rest

# Lab
panes = Parts of the page
lesson = Lesson
terminal-and-board = Terminal and board
steps-nav = Steps of the lab
step-of = step { $n } / { $of }
step-done = done
minutes = { $n } min
contents = In this step
turn = Previous and next step
to-report = Report
split = Width of the lesson
workbench = Workbench
board = Board
criteria = Criteria
why = Why?
no-evidence = Nothing observed so far.
run = Run
copy = Copy
output = What it prints
question = Question
prediction = Prediction
answer = Answer
answers = Answers
fold-hint = Hint
fold-more = Going further
fold-trouble = If it does not work
callout-note = Note
callout-warning = Careful
callout-expected = What you should see
callout-why = What it means
answer-no-environment = No environment is running: start it, then answer.
standing = State
standing-passed = Met
standing-failed = Not met
standing-waiting = Waiting
standing-not-judged = Not judged
say-passed = Criterion met: { $x }
say-failed = Criterion not met: { $x }

# Terminal
terminal-new = Open a terminal
terminal-tools = Terminal tools
find = Find in the terminal
find-back = Previous result
find-on = Next result
screen-reader = Screen reader mode
leave-terminal = Ctrl+Esc leaves the terminal. Ctrl+Shift+C copies, Ctrl+V pastes.
terminal-too-many = Ten terminals are open already: close one.
terminal-no-environment = No environment is running: start it first.
terminal-no-sandbox = The terminal does not start: bubblewrap is missing on this machine, and without it the shell would not be isolated. Install the package "bubblewrap", then reload the page.
terminal-shell-failed = The shell could not be started. The server’s log says why.

# Board
board-none = The board fills when the environment is running.
board-queues = Queues
board-no-queues = No ClusterQueue yet.
board-workloads = Workloads
board-no-workloads = No Workload yet.
board-nodes = Nodes
cohort = cohort
queue-inactive = inactive
queue-counts = { $pending } waiting · { $admitted } admitted
flavor = Flavor
flavor-of = flavor
resource = Resource
use = Use
use-figures = Used / quota
borrowed = { $x } borrowed
state = State
job = Job
local-queue = Queue
requests = Requests
workload-lacks = { $amount } more { $resource } needed in flavor { $flavor }.
workload-queued = Waiting
workload-reserved = Quota reserved
workload-admitted = Admitted
workload-running = Running
workload-evicted = Evicted
workload-finished = Finished
node-not-ready = not ready
node-cordoned = cordoned
node-no-gpus = no GPU
gpus-of = { $n } / { $of } GPUs in use
gpus = { $n ->
    [one] { $n } GPU
   *[other] { $n } GPUs
}

# Environment
environment = Environment
environment-lead = Your cluster: real Kubernetes servers, and simulated GPU nodes. It goes on when you close this page.
environment-absent = No environment
environment-starting = Starting
environment-running = Running
environment-stopping = Stopping
environment-stopped = Stopped
environment-deleting = Deleting
environment-broken = Broken
environment-absent-text = Nothing exists yet. Creating it takes a few seconds.
environment-starting-text = The servers start one after the other. You can read the lesson meanwhile.
environment-running-text = Everything works.
environment-stopping-text = The servers are stopping; your objects stay on disk.
environment-stopped-text = Nothing runs. Your objects and files are kept.
environment-deleting-text = The environment is being deleted. After a reset, another one starts at once.
environment-broken-text = A server should run and does not. Your objects are on disk; starting again is enough most of the time.
profile = profile
phases = Phases of the start
phase-ahead = to come
phase-started = under way
phase-failed = failed
phase-directory = Prepare the folder
phase-certificates = Issue the certificates
phase-etcd = Start etcd
phase-api-server = Start the API server
phase-containers = Create the containers of the nodes
phase-controller-manager = Start the controllers
phase-scheduler = Start the scheduler
phase-rules = Lay down rules and rights
phase-nodes = Create the simulated nodes
phase-host-node = Connect the platform’s node
phase-ready = Check that everything answers
seconds = { $n } s
trouble = Incidents
child-died = stopped; being started again (attempt { $n })
child-restarted = had stopped and runs again (attempt { $n })
acts = Actions
acts-none = Nothing to do while this change is under way.
act-create = Create the environment
act-create-effect = Starts a new cluster with the nodes of the current lab.
act-start = Start
act-start-effect = Starts the servers again on the kept data.
act-stop = Stop
act-stop-effect = Stops the servers and closes the terminals. Your objects and files are kept.
act-reset = Reset
act-reset-effect = Destroys all objects of the cluster, closes the terminals and erases the criteria met and the answers: the lab is judged anew. Your files are kept.
act-reset-confirm = Destroy and start over
act-delete = Delete
act-delete-effect = Destroys the cluster, its objects and the history of the criteria. Your files are kept.
act-delete-confirm = Delete everything
access = Access
kubeconfig-text = This kubeconfig is the trainee’s, not the administrator’s: it has the same rights as your terminal, and works on this machine only.
kubeconfig = Download the kubeconfig
kubeconfig-none = It will be here once the environment has started.
logs = Logs
logs-text = The end of the log of each of the environment’s programs.
logs-none = No logs yet.
offer-create = Your cluster does not exist yet
offer-create-text = You need one for this lab: real Kubernetes servers and simulated GPU nodes, all your own.
offer-start = Your cluster is stopped
offer-start-text = Your objects and files are kept; start it to go on.
offer-broken = Your cluster is broken
offer-broken-text = Your objects are on disk. Starting again is enough most of the time.
offer-time = Allow 6 to 20 seconds.
offer-late = This phase takes longer than usual: the machine is probably very busy. The start goes on, there is nothing to do again.
offer-ready = Your cluster is ready.
offer-open = Open the terminal

# Report
report-lead = Each criterion with the facts its verdict rests on. Times are those of the record.
back-to-lab = Back to the lab
criterion = Criterion

# Errors
error-safe = What is safe
error-do = What you can do
error-reference = Reference number: { $x }
error-not-found = There is no such page
error-not-found-safe = Everything: your environment, files and criteria are untouched.
error-not-found-do = Check the address, or begin at the start page.
error-refused = The request was refused
error-refused-safe = Everything: nothing was done.
error-refused-do = This action must come from a page of this platform, opened in this browser. Reload the page and try again.
error-host = This address is not served here
error-host-safe = Everything: nothing was done.
error-host-do = Open http://127.0.0.1:8080, or the address that your instructor gave you.
error-unreadable = The request could not be read
error-unreadable-safe = Everything: nothing was done.
error-unreadable-do = Reload the page and try again.
error-not-now = This is not possible now
error-not-now-safe = Everything: nothing was done.
error-not-now-do = The environment’s state has changed meanwhile. Look how it is, then decide.
error-no-environment = There is no environment
error-no-environment-safe = Everything: nothing was done.
error-no-environment-do = Create or start the environment, then try again.
error-internal = Something went wrong on our side
error-internal-safe = Your environment and terminals go on running; what was recorded stays recorded.
error-internal-do = Try again in a moment. If it happens again, give the reference number to your instructor: the server’s log contains it.

# For scripts
script-copied = Copied.
script-not-copied = The browser refused to copy: select the text.
script-answer-kept = Answer recorded.
script-answer-empty = An answer is missing, or is not a number.
script-answer-lost = The answer could not be sent. Try again.
script-retry = Try now
script-terminal-name = Terminal {"{x}"}
script-terminal-close = Close terminal {"{x}"}
script-terminal-none = No terminal is open.
script-terminal-left = You have left the terminal. Enter or Space goes back.
script-terminal-lost = The connection to the terminal is lost. The shell goes on running; the page reconnects by itself.
script-terminal-lost-keys = The connection to the terminal is lost. Your typing ({"{x}"} bytes) is kept and will be sent once.
script-terminal-back = The terminal is connected again.
script-terminal-no-upgrade = The server answers, but a proxy does not pass WebSockets. It must forward the headers Upgrade and Connection. Next try every ten seconds.
script-terminal-gap = … too much output: a part is not shown …
script-terminal-restarted = This is a new shell: the platform was restarted and the old one stopped with it. Your files are there.
script-terminal-restarted-keys = This is a new shell: the platform was restarted. What you typed meanwhile was not sent.
script-terminal-ended = The shell has ended.
script-terminal-ended-code = The shell has ended (code {"{x}"}). Close the tab or open another with +.
script-terminal-ended-killed = The shell was stopped. Close the tab or open another with +.
script-terminal-ended-closed = This terminal was closed.
script-terminal-ended-shutdown = The platform is stopping; this shell stopped with it.
script-terminal-ended-environment-stopped = The environment was stopped; this shell stopped with it.
script-terminal-ended-environment-reset = The environment was reset; this shell stopped with it.
script-terminal-refused-token = This page is from before: reload it.
script-terminal-refused-unknown-terminal = This terminal is gone: the platform was restarted or it was closed. Open another with +.
