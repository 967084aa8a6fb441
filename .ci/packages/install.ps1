# Installs claude-mem @VERSION@ on Windows: fetches the archive, checks it against the hash below, puts both programs into
# %LOCALAPPDATA%\claude-mem (or BIN_DIR) and runs `claude-mem install`. It was never run on a real Windows.
#   irm @URL@/install.ps1 | iex
$ErrorActionPreference = 'Stop'
$arch, $hash = if ($env:PROCESSOR_ARCHITECTURE -eq 'ARM64') { 'arm64', '@SHA256:windows_arm64@' } else { 'amd64', '@SHA256:windows_amd64@' }
$file = "claude-mem_@VERSION@_windows_$arch.zip"
$url = if ($env:CLAUDE_MEM_URL) { $env:CLAUDE_MEM_URL } else { '@URL@' }
$bin = if ($env:BIN_DIR) { $env:BIN_DIR } else { Join-Path $env:LOCALAPPDATA 'claude-mem' }
$temp = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory $temp | Out-Null
try {
  Invoke-WebRequest "$url/$file" -OutFile "$temp\$file" -UseBasicParsing
  if ((Get-FileHash "$temp\$file" -Algorithm SHA256).Hash.ToLower() -ne $hash) { throw "$file is not the file of this release: its hash is another one; nothing was installed" }
  Expand-Archive "$temp\$file" "$temp\unpacked"
  New-Item -ItemType Directory -Force $bin | Out-Null
  foreach ($name in 'claude-mem-hook.exe', 'claude-mem.exe') {
    if (Test-Path "$bin\$name") { # a program that runs can be renamed, and not replaced
      Remove-Item -Force -ErrorAction SilentlyContinue "$bin\$name.old"
      Move-Item -Force "$bin\$name" "$bin\$name.old"
    }
    Move-Item -Force "$temp\unpacked\$name" $bin
  }
} finally {
  Remove-Item -Recurse -Force $temp
}
Write-Host "claude-mem @VERSION@ is in $bin"
if (-not $env:NO_INSTALL) { & "$bin\claude-mem.exe" install }
