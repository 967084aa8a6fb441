// The theme that was chosen, on a page that the worker did not make.
document.documentElement.dataset.theme = /claude_mem_theme=(\w+)/.exec(document.cookie)?.[1] ?? "";
