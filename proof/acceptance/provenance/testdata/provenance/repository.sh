# Makes the repository that calls.txt is about: sh repository.sh DIR. It is DIR/shop;
# beside it lie another project, a page and the clone that it was made from.
set -e
export HOME="$1" GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
mkdir -p "$1/shop" "$1/other" && cd "$1/shop"
file() { mkdir -p "$(dirname "$1")" && printf 'text of %s\n' "$1" >"$1"; }
git init -q -b main
for f in README.md main.go go.mod Makefile package.json src/cart.go src/cart_test.go docs/setup.md scripts/fetch.py scripts/build.sh \
	scripts/report.mjs vendor/lib/lib.go third_party/zlib/README cmd/shop/main.go config/app.yaml logs/kept.log data/rates.csv; do file $f; done
printf '/build/\n/dist/\nnode_modules/\n.venv/\n*.tmp\n/notes/*\n!/notes/keep.md\n.env\n' >.gitignore
file docs/drafts/.gitignore && printf '*\n!.gitignore\n!open.md\n' >docs/drafts/.gitignore
git add -A -f && git commit -q -m first
git checkout -q -b feat/rounding && git commit -q --allow-empty -m second && git checkout -q main
for f in node_modules/left-pad/README.md node_modules/left-pad/package.json .venv/lib/python3.12/site-packages/requests/api.py build/out.txt dist/app.js \
	download.md found.txt a.tmp server.log notes/a.md notes/keep.md docs/drafts/secret.md docs/drafts/open.md .env scripts/new.py; do file $f; done
file env2/pyvenv.cfg && file env2/lib/x.py
git clone -q . ../fork && (cd ../fork && git commit -q --allow-empty -m 'theirs' && git update-ref refs/pull/7/head HEAD)
git remote add origin ../fork && git remote add stranger ../fork
git fetch -q origin && git fetch -q stranger && git fetch -q origin pull/7/head
git clone -q ../fork sub
cd "$1" && file other/NOTES.md && file page.md
