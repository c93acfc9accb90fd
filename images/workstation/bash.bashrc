# Shell of a trainee in the workstation image. Their own ~/.bashrc comes after it.
[ -z "${PS1-}" ] && return
shopt -s checkwinsize histappend
HISTCONTROL=ignoredups
HISTSIZE=10000
PS1='\[\e[1;34m\]\w\[\e[0m\] \$ '
[ -r /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion
if command -v kubectl >/dev/null; then
    . <(kubectl completion bash)
    alias k=kubectl
    complete -o default -F __start_kubectl k
fi
command -v helm >/dev/null && . <(helm completion bash)
alias ll='ls -l --color=auto' ls='ls --color=auto'
