// Serves the files of a release in the folder of its first argument at the port of its second, and below /npm/ a
// registry of the packages in it.
const { execFileSync } = require("child_process");
const fs = require("fs"), http = require("http"), path = require("path");
const [folder, port] = process.argv.slice(2);
const packages = {};
for (const file of fs.readdirSync(folder)) {
  if (!file.endsWith(".tgz")) continue;
  const it = JSON.parse(execFileSync("tar", ["-xzOf", path.join(folder, file), "package/package.json"]));
  it.dist = { tarball: `http://127.0.0.1:${port}/${file}` };
  packages[it.name] = { name: it.name, "dist-tags": { latest: it.version }, versions: { [it.version]: it } };
}
http.createServer((request, response) => {
  const name = decodeURIComponent(request.url.split("?")[0]);
  const about = name.startsWith("/npm/") && packages[name.slice(5)], file = path.join(folder, path.basename(name));
  if (about) response.end(JSON.stringify(about));
  else if (!name.startsWith("/npm/") && fs.existsSync(file) && fs.statSync(file).isFile()) fs.createReadStream(file).pipe(response);
  else response.writeHead(404).end();
}).listen(port, "127.0.0.1");
