# Read by the scripts beside it: runs the program of their name with their arguments. It is looked for in the
# checkout that the plugin is part of, in an installation, and in the PATH. It opens no connection: a
# program that is missing is fetched by a person, with the script that a release puts beside this one.
name=${0##*/} here=${0%/*}
IFS=:
for dir in "$here/../../bin" "${CLAUDE_MEM_DATA_DIR:-$HOME/.claude-mem}/bin" $PATH "$HOME/.local/bin"; do
  case $dir in "$here"/* | /* | ?:*) ;; *) continue ;; esac # nothing that a project's folder can put there
  [ -f "$dir/$name" ] && [ -x "$dir/$name" ] && ! [ "$dir/$name" -ef "$0" ] && exec "$dir/$name" "$@"
done
how="\`make build\` in its checkout makes them"
[ -f "$here/install.sh" ] && how="to fetch them, checked by their hashes: NO_INSTALL=1 sh $here/install.sh"
[ "$name" = claude-mem ] && echo "claude-mem: the programs of the plugin are missing; $how" >&2 && exit 1
[ "${1:-}" = context ] && printf '{"systemMessage":"claude-mem remembers nothing yet, its programs are missing; %s"}\n' "$(printf %s "$how" | sed 's/[\\"]/\\&/g')"
exit 0
