class Settings:
    pass
